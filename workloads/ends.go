package workloads

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"lockcheck/checker/history"
	"lockcheck/clusters"
	"lockcheck/clusters/client"
)

// ended acts on the end of the conversation with a client, in any phase of the run. A client that broke the protocol
// ends the run: what it said after that, or did not say, is no word of the service. One that ended by itself is reported.
func (r *Run) ended(m *member) {
	switch why := m.driver.Err(); {
	case errors.Is(why, client.ErrProtocol):
		r.fail(r.unusable(m.name, why))
	case m.driver.Died():
		r.reportDeath(m.name, deathOf(m.process))
	}
}

// reportDeath says at once which client ended by itself, and how. What another's end had to say before is not repeated: a
// client that keeps dying mostly does so for one reason.
func (r *Run) reportDeath(name string, d *death) {
	words := d.how + "\n" + strings.Join(d.words, "\n")
	r.mu.Lock()
	before, known := r.deaths[words]
	if !known {
		r.deaths[words] = name
	}
	r.mu.Unlock()
	if known {
		r.progress("client %s ended by itself: %s, as %s did; its log is %s", name, d.how, before, d.log)
		return
	}
	r.progress("client %s ended by itself: %v", name, d)
}

// death is how a client ended that neither a fault nor the harness had ended.
type death struct {
	how   string   // exit status or signal
	words []string // of its log
	log   string   // the log's path
}

func (d *death) Error() string {
	lines := append([]string{d.how}, d.words...)
	if d.log != "" {
		lines = append(lines, "its log is "+d.log)
	}
	return strings.Join(lines, "\n    ")
}

// deathTimeout bounds how long a process may take to end after its output did. A busy engine was seen to tell of the end of a container's process
// more than two seconds after it.
const deathTimeout = 10 * time.Second

// deathOf is how a process ended, as far as can be seen soon after its output has.
func deathOf(process clusters.Process) *death {
	d := &death{how: "its output ended, and its process had not ended " + history.Duration(int64(deathTimeout)) + " later"}
	select {
	case <-process.Done():
		d.how = "exit status 0"
		if err := process.Err(); err != nil {
			d.how = err.Error()
		}
	case <-time.After(deathTimeout):
	}
	logged, ok := process.(clusters.Logged)
	if !ok {
		return d
	}
	d.log = logged.LogPath()
	if text, err := readEnd(d.log); err == nil {
		d.words = lastWords(string(text))
	}
	return d
}

// unfit is why a client that was just started ends the run: it broke the protocol, or it declares something else than those
// before it. It is nil if the client runs, and if it could not be started for another reason, which err says.
func (r *Run) unfit(m *member, err error) error {
	switch {
	case errors.Is(err, client.ErrProtocol):
		return r.refused(err)
	case err != nil:
		return nil
	}
	return r.agrees(m)
}

// unusable is why a client that broke the protocol cannot be tested.
func (r *Run) unusable(name string, why error) error {
	return r.refused(fmt.Errorf("client %s cannot be used: %w", name, why))
}
