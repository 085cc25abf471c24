package driver

import "time"

// drainTimeout bounds how long Frozen waits for the output of a stopped client to be read. Reading a full pipe takes
// well under a millisecond; a harness that needs longer gives up the extension, which hides and never invents.
const drainTimeout = 500 * time.Millisecond

// Frozen is called once all threads of the client's process were read back as stopped. It waits until everything the
// client had printed is recorded; from then on nothing can change what it believes, until Thaw, so that its
// holds last until then (rule R4 in checker/RULES.md). It reports false when that could not
// be seen, for example because the client was stopped in the middle of a line.
func (d *Driver) Frozen() bool {
	deadline := time.Now().Add(drainTimeout)
	for {
		if d.drained() {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.heardLocked() // from here on a fault keeps it silent
			return true
		}
		if time.Now().After(deadline) {
			return false
		}
		time.Sleep(time.Millisecond)
	}
}

func (d *Driver) drained() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	waiting, err := unread(d.stdout)
	if err != nil {
		return false
	}
	d.frozen = d.failure == nil && waiting == 0 && len(d.partial) == 0
	return d.frozen
}

// Thaw is called just before the client is let go, or killed: what it believed when it froze it has believed until now. A
// ping before it is let go gives what it does then a bound that is not older than its pause.
func (d *Driver) Thaw() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.frozen {
		d.pings.heardNS = d.recorder.Now()
		d.beliefs.confirmAll(d.pings.heardNS)
		d.frozen = false
	}
}
