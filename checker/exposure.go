package checker

import (
	"cmp"
	"fmt"
	"slices"

	"lockcheck/checker/history"
)

// exposures is the table of what can be counted (J9): how, and what did not happen if the count is too low.
var exposures = []struct {
	name    string
	count   func(*judge) int64
	happens string // with the count before it
	never   string
}{
	{history.ExposureContended, (*judge).contended, "grants of a lock that another client was waiting for",
		"no client ever waited for a lock that another held"},
	{history.ExposurePaused, (*judge).pauses, "pauses seen to take effect",
		"no pause took effect"},
	{history.ExposurePausedHolder, (*judge).pausesOfHolders, "pauses of a client that believed it held a lock",
		"no pause hit a client that held a lock"},
	{history.ExposureOutlived, (*judge).pausesPastLease, "pauses of a holder that lasted past the end of its lease",
		"no pause of a holder outlived its lease"},
}

// exposure counts everything in the table, and all that the plan requires.
func (j *judge) exposure() []Exposure {
	out := []Exposure{}
	required := slices.Clone(j.m.Plan.Exposure)
	for _, e := range exposures {
		x := Exposure{Name: e.name, Count: e.count(j)}
		required = slices.DeleteFunc(required, func(r history.Requirement) bool {
			if r.Name == e.name {
				x.Min = max(x.Min, r.Min)
			}
			return r.Name == e.name
		})
		x.Text = fmt.Sprintf("%d %s", x.Count, e.happens)
		switch {
		case x.Count < x.Min && x.Count == 0:
			x.Text = e.never
		case x.Count < x.Min:
			x.Text = fmt.Sprintf("only %d of at least %d %s", x.Count, x.Min, e.happens)
		}
		out = append(out, x)
	}
	for _, r := range required {
		out = append(out, Exposure{Name: r.Name, Min: max(r.Min, 1), Text: fmt.Sprintf("this lockcheck cannot count %q, which the plan requires", r.Name)})
	}
	return out
}

// contended counts grants that another client's acquire of the same lock waited for while they were held.
func (j *judge) contended() (n int64) {
	for _, k := range j.keys {
		// waits[i] is for the acquires up to the i-th, by invocation, until when the longest of any client waits, and
		// until when the longest of any other client than that one does.
		waits := make([]longestWaits, len(k.acquires))
		asked := make([]int64, len(k.acquires))
		for i, h := range k.acquires {
			until := h.DoneNS
			if h.Outcome == history.Invoke {
				until = never
			}
			if i > 0 {
				waits[i] = waits[i-1]
			}
			waits[i].take(h.client, until)
			asked[i] = h.InvokeNS
		}
		before := 0
		for _, h := range k.grants {
			before = sought(asked, max(h.DoneNS, h.BelievedNS, h.ProvenNS), before)
			if before > 0 && waits[before-1].other(h.client) > h.DoneNS {
				n++
			}
		}
	}
	return n
}

// sought is where ns stands in a sorted list, found from near where it is.
func sought(list []int64, ns int64, near int) int {
	for step := 1; near < len(list) && list[near] < ns; step *= 2 {
		if near+step >= len(list) || list[near+step] >= ns {
			n, _ := slices.BinarySearch(list[near:min(near+step, len(list))], ns)
			return near + n
		}
		near += step
	}
	for step := 1; near > 0 && list[near-1] >= ns; step *= 2 {
		if near < step || list[near-step] < ns {
			from := max(near-step, 0)
			n, _ := slices.BinarySearch(list[from:near], ns)
			return from + n
		}
		near -= step
	}
	return near
}

// longestWaits is until when the two clients that wait longest do.
type longestWaits struct {
	until, second int64
	client        int32
}

func (w *longestWaits) take(client int32, until int64) {
	switch {
	case client == w.client:
		w.until = max(w.until, until)
	case until > w.until:
		w.client, w.until, w.second = client, until, w.until
	default:
		w.second = max(w.second, until)
	}
}

func (w *longestWaits) other(than int32) int64 {
	if w.client == than {
		return w.second
	}
	return w.until
}

// pauseFault is the name of the fault that stops a process.
const pauseFault history.F = "pause"

func (j *judge) pauses() (n int64) {
	for _, f := range j.m.Faults {
		if f.Name == pauseFault && f.EffectiveNS != 0 {
			n++
		}
	}
	return n
}

func (j *judge) pausesOfHolders() (n int64) {
	for _, f := range j.m.Faults {
		if f.Name == pauseFault && len(j.m.heldBy(f)) > 0 {
			n++
		}
	}
	return n
}

func (j *judge) pausesPastLease() (n int64) {
	for _, f := range j.m.outlived() {
		if f.Name == pauseFault {
			n++
		}
	}
	return n
}

// outlived are the faults that lasted past the end of a lease of the holder they hit. Here the end is taken as late as
// it can be (a request acknowledged at t extends to t + TTL at most), because what is counted is what certainly happened.
func (m *Model) outlived() []*Fault {
	var all []*Fault
	for _, f := range m.Faults {
		if slices.ContainsFunc(m.heldBy(f), func(h *Hold) bool {
			_, latest := m.leaseAt(h, f.EffectiveNS)
			return latest != 0 && f.overNS(m.EndNS) > latest
		}) {
			all = append(all, f)
		}
	}
	return all
}

// sway is the holds that one client believed in, in the order of their grants, and of those up to each until when the
// longest lasted.
type sway struct {
	holds []*Hold
	until []int64
}

// heldBy are the holds that the target of a fault was known to believe in when the fault took effect.
func (m *Model) heldBy(f *Fault) (held []*Hold) {
	if f.EffectiveNS == 0 {
		return nil
	}
	s := m.swayOf(f.Target)
	if s == nil {
		return nil
	}
	granted, _ := slices.BinarySearchFunc(s.holds, f.EffectiveNS+1, func(h *Hold, t int64) int { return cmp.Compare(h.DoneNS, t) })
	for i := granted - 1; i >= 0 && s.until[i] >= f.EffectiveNS; i-- {
		if s.holds[i].BelievedNS >= f.EffectiveNS {
			held = append(held, s.holds[i])
		}
	}
	slices.Reverse(held)
	return held
}

func (m *Model) swayOf(client string) *sway {
	if m.believed == nil {
		m.believed = map[string]*sway{}
		for _, h := range m.Holds {
			if h.BelievedNS == 0 {
				continue
			}
			s := m.believed[h.Client]
			if s == nil {
				s = &sway{}
				m.believed[h.Client] = s
			}
			s.holds = append(s.holds, h)
		}
		for _, s := range m.believed {
			sortInOrder(s.holds, func(a, b *Hold) int { return cmp.Compare(a.DoneNS, b.DoneNS) })
			s.until = make([]int64, len(s.holds))
			for i, h := range s.holds {
				s.until[i] = max(s.until[max(i-1, 0)], h.BelievedNS)
			}
		}
	}
	return m.believed[client]
}

// leaseAt is when the lease of a hold, as acknowledged up to t, can have run out at the earliest and at the latest; zeros
// if none was.
func (m *Model) leaseAt(h *Hold, t int64) (earliest, latest int64) {
	take := func(leases []Lease) {
		for _, l := range leases {
			if l.TimeNS > t {
				break
			}
			earliest, latest = max(earliest, l.SeenNS+l.TTLNS-m.Plan.DriftMS*1e6), max(latest, l.TimeNS+l.TTLNS)
		}
	}
	take(h.Leases)
	if s := m.Sessions[h.Session]; s != nil {
		take(s.Leases)
	}
	return earliest, latest
}

// overNS is until when a fault certainly lasted: when it began to be taken back, the end of the run if it never was.
func (f *Fault) overNS(end int64) int64 {
	switch {
	case f.HealNS != 0:
		return f.HealNS
	case f.EffectiveNS == 0 && f.Error != "":
		return f.BeginNS
	}
	return end
}

// goneNS is when a fault was certainly gone: seen to be, or the end of the run.
func (f *Fault) goneNS(end int64) int64 {
	if f.HealedNS != 0 {
		return f.HealedNS
	}
	return max(f.overNS(end), end)
}
