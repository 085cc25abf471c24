package checker

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"lockcheck/checker/history"
)

// narrowings are what of the faults of one name is counted (J9).
var narrowings = []struct {
	name    func(plural string) string
	counts  func(*judge, *Fault) bool
	happens string // after the one or the plural
	never   string
	rare    bool // it is listed only where it happened, or is required
}{
	{func(plural string) string { return plural }, func(_ *judge, f *Fault) bool { return f.EffectiveNS != 0 },
		"seen to take effect", "took effect", false},
	{history.OfHolders, func(j *judge, f *Fault) bool { return len(j.m.heldBy(f)) > 0 || j.m.killedHolding(f) },
		"of a client that believed it held a lock", "hit a client that held a lock", false},
	{history.PastLease, func(j *judge, f *Fault) bool { return j.m.outlives(f) },
		"of a holder that lasted past the end of its lease", "of a holder outlived its lease", false},
	{history.OfServers, func(j *judge, f *Fault) bool { return f.EffectiveNS != 0 && j.m.ofService(f) },
		"of a server", "hit a server", false},
	{history.OfResource, func(_ *judge, f *Fault) bool { return f.EffectiveNS != 0 && f.Target == history.ResourceTarget },
		"of the resource", "hit the resource", true},
}

// exposure counts the contended grants, the faults of each kind that the history or the plan knows, and says of what the
// plan requires whether it happened.
func (j *judge) exposure() []Exposure {
	required := map[string]int64{}
	for _, r := range j.m.Plan.Exposure {
		required[r.Name] = max(required[r.Name], r.Min)
	}
	out := []Exposure{}
	add := func(name string, count int64, one, many, happens, never string) {
		x := Exposure{Name: name, Count: count, Min: required[name]}
		delete(required, name)
		x.Text = history.Counted(x.Count, one, many) + " " + happens
		switch {
		case x.Count < x.Min && x.Count == 0:
			x.Text = never
		case x.Count < x.Min:
			x.Text = fmt.Sprintf("only %d of at least %s %s", x.Count, history.Counted(x.Min, one, many), happens)
		}
		out = append(out, x)
	}
	kept, letIn := j.contended()
	add(history.ExposureContended, kept, "grant", "grants", "of a lock that another client was waiting for",
		"no client ever waited for a lock that another held")
	if waited := &out[0]; waited.Min > 0 && kept < letIn {
		waited.Min = letIn
		waited.Text = fmt.Sprintf("a client that waited was kept out by %s, and let in by %s: nothing shows that this lock keeps any client out",
			history.Counted(kept, "grant", "grants"), history.Grouped(letIn))
	}
	add(history.ExposureWriters, j.m.writers(), "client", "clients", "whose write under a lock the resource handled and answered",
		"no write under a lock was handled by the resource and answered")
	if j.m.Plan.Jobs() {
		recorders, slots := j.recorders()
		add(history.ExposureRecorders, recorders, "client", "clients", "whose record of a slot the resource applied", "no record of a slot was applied")
		add(history.ExposureSlots, slots, "slot", "slots", "recorded as run", "no slot was recorded as run")
	}
	if required[history.ExposureRenewed] > 0 {
		add(history.ExposureRenewed, j.m.renewed(), "hold", "holds", "renewed past the end of the first lease", "no hold was renewed past the end of its first lease")
	}
	for _, kind := range history.Faults() {
		for _, n := range narrowings {
			name, count := n.name(kind.Exposures), int64(0)
			for _, f := range j.m.Faults {
				if f.Name == kind.Name && n.counts(j, f) {
					count++
				}
			}
			if j.m.met(kind.Name) && (!n.rare || count > 0) || required[name] > 0 {
				add(name, count, kind.One, kind.Many, n.happens, "no "+kind.None+" "+n.never)
			}
		}
		if name := history.AtOnce(kind.Exposures); required[name] > 0 {
			add(name, j.m.maxConcurrent(kind.Name), kind.One, kind.Many, "in effect at the same time", "no "+kind.None+" took effect")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(required)) {
		out = append(out, Exposure{Name: name, Min: max(required[name], 1), Text: fmt.Sprintf("this lockcheck cannot count %q, which the plan requires", name)})
	}
	return out
}

// renewed counts the holds that their clients believed in after their first lease had run out at the latest, and whose lease had been
// extended before that.
func (m *Model) renewed() (n int64) {
	for _, h := range m.Holds {
		leases := m.leasesOf(h)
		next, _ := slices.BinarySearchFunc(leases, h.DoneNS+1, func(l Lease, ns int64) int { return cmp.Compare(l.TimeNS, ns) })
		next = max(next, 1) // the first is the last that was acknowledged before the grant was read, or else the one after it
		if h.Outcome != history.OK || next >= len(leases) {
			continue
		}
		if end := leases[next-1].TimeNS + leases[next-1].TTLNS; leases[next].TimeNS <= end && h.BelievedNS > end {
			n++
		}
	}
	return n
}

// writers counts the clients of which a write was handled by the resource, and answered, rejected ones included.
func (m *Model) writers() int64 {
	wrote := make([]bool, len(m.Clients)) // by the client's number
	n := int64(0)
	for _, h := range m.Holds {
		if !wrote[h.client] && slices.ContainsFunc(h.Accesses, (*Access).answeredWrite) {
			wrote[h.client] = true
			n++
		}
	}
	return n
}

// answeredWrite reports whether it is a write that the resource handled and that was answered, rejected ones included.
func (a *Access) answeredWrite() bool {
	return a.F == history.Write && (a.handled != 0 || a.applied) && (a.Outcome == history.OK || a.Outcome == history.Fail)
}

// maxConcurrent is the largest number of faults of a name that were in effect together: a majority whose members suffer one
// after the other never was one.
func (m *Model) maxConcurrent(name history.F) (highest int64) {
	type change struct {
		atNS int64
		by   int64
	}
	var changes []change
	for _, f := range m.Faults {
		if f.Name == name && f.EffectiveNS != 0 {
			changes = append(changes, change{f.EffectiveNS, 1}, change{f.overNS(m.EndNS), -1})
		}
	}
	slices.SortFunc(changes, func(a, b change) int { return cmp.Or(cmp.Compare(a.atNS, b.atNS), cmp.Compare(a.by, b.by)) })
	now := int64(0)
	for _, c := range changes {
		now += c.by
		highest = max(highest, now)
	}
	return highest
}

// met reports whether the history has a fault of that name, effective or not.
func (m *Model) met(name history.F) bool {
	return slices.ContainsFunc(m.Faults, func(f *Fault) bool { return f.Name == name })
}

// ofClient reports whether a fault's target is a client.
func (m *Model) ofClient(f *Fault) bool { return m.Clients[f.Target] != nil }

// ofService reports whether a fault's target is a server, or the service as a whole.
func (m *Model) ofService(f *Fault) bool { return !m.ofClient(f) && f.Target != history.ResourceTarget }

// contended counts the grants that another client's acquire of the same lock waited for while they were held: those that
// kept the others out for as long, and those during which another was let in. A lock that lets all clients in is none, and a
// client of which two acquires happen to overlap has waited for nothing.
func (j *judge) contended() (kept, letIn int64) {
	for _, k := range j.keys {
		before, by := queued{acquires: k.acquires}, queued{acquires: k.acquires} // asked for before the grant, and by then
		asked, granted := sameClient{acquires: k.acquires}, sameClient{acquires: k.grants}
		waited := func(h *Hold, heldNS int64) bool {
			before.until(h.DoneNS)
			by.until(h.DoneNS + 1)
			switch {
			case before.other(h.client) > h.DoneNS:
				return true
			case heldNS == h.DoneNS:
				return false
			case by.other(h.client) > h.DoneNS:
				return true
			}
			at := asked.end(by.n, h.client) // an acquire asked for later has waited for longer than up to the grant
			return at < len(k.acquires) && k.acquires[at].InvokeNS < heldNS
		}
		for i, h := range k.grants {
			heldNS := j.m.heldNS(h)
			if !waited(h, heldNS) {
				continue
			}
			if next := granted.end(i, h.client); next < len(k.grants) && k.grants[next].DoneNS < heldNS {
				letIn++
			} else {
				kept++
			}
		}
	}
	return kept, letIn
}

// heldNS is up to when a lock that keeps others out lets no other client in: as long as its client believed in it or the
// service is proven to have held it, and up to its release where its client was told of no loss; but no longer than its lease,
// or, without any lease report in the run, the time to live that was asked for.
func (m *Model) heldNS(h *Hold) int64 {
	held := max(h.DoneNS, h.BelievedNS, h.ProvenNS)
	if h.LostNS == 0 {
		held = max(held, h.ReleaseNS)
	}
	switch {
	case h.LeaseNS != 0:
		held = min(held, max(h.DoneNS, h.LeaseNS))
	case !m.leased && m.Plan.TTLMS > 0:
		held = min(held, h.DoneNS+m.Plan.TTLMS*1e6)
	}
	return held
}

// queued is until when those wait that have asked for a lock so far.
type queued struct {
	acquires []*Hold
	n        int // so many have been looked at
	longestWaits
}

// until looks at all that asked before a moment.
func (q *queued) until(ns int64) {
	for ; q.n < len(q.acquires) && q.acquires[q.n].InvokeNS < ns; q.n++ {
		h, until := q.acquires[q.n], int64(never)
		if h.Outcome != history.Invoke {
			until = h.DoneNS
		}
		q.take(h.client, until)
	}
}

// sameClient finds the ends of runs of acquires by one client. It remembers the last, so that one is not gone over for
// each place in it.
type sameClient struct {
	acquires []*Hold
	from, to int
	client   int32
}

// end is the first acquire from a place on that is not that client's.
func (r *sameClient) end(from int, client int32) int {
	if client != r.client || from < r.from || from > r.to {
		r.from, r.to, r.client = from, from, client
	}
	for r.to < len(r.acquires) && r.acquires[r.to].client == client {
		r.to++
	}
	return r.to
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

// outlived are the faults that lasted past the end of a lease of the holder they hit. Here the end is taken as late as
// it can be (a request acknowledged at t extends to t + TTL at most, and the grace that the plan gives it), because what is
// counted is what certainly happened.
func (m *Model) outlived() []*Fault {
	var all []*Fault
	for _, f := range m.Faults {
		if m.outlives(f) {
			all = append(all, f)
		}
	}
	return all
}

// outlives counts extensions that were acknowledged during the fault, too: one that leaves the way to the servers open
// does not outlive the lease that goes on being renewed. Where the lock client reports no leases at all, the time to live
// that was asked for counts, from the grant on (rule J9): it says what a run was exposed to, and proves nothing.
func (m *Model) outlives(f *Fault) bool {
	return slices.ContainsFunc(m.heldBy(f), func(h *Hold) bool {
		return m.outlivesLease(f, h) || !m.leased && f.overNS(m.EndNS) > h.DoneNS+m.Plan.TTLMS*1e6
	})
}

// hampers reports whether a fault of a holder left it a way to its servers: by its nature, or because a request that was sent under it was
// acknowledged. A partition from the resource alone leaves one, and so does most packet loss.
func (m *Model) hampers(f *Fault, h *Hold) bool {
	return f.words().Hampers || f.words().Silences && m.extendedUnder(f, h)
}

// outlivesLease reports whether a fault lasted past the end of a hold's lease. A client that is only hampered may have given its lock back
// before that.
func (m *Model) outlivesLease(f *Fault, h *Hold) bool {
	over := f.overNS(m.EndNS)
	_, latest := m.leaseAt(h, over)
	if latest == 0 || over <= latest {
		return false
	}
	return h.givenBackNS() >= latest || !m.hampers(f, h)
}

// extendedUnder reports whether a request for a hold's lease that was sent while a fault was in effect was acknowledged in time: while it
// was, and before the lease that it brought was over.
func (m *Model) extendedUnder(f *Fault, h *Hold) bool {
	inTime := func(l Lease) bool {
		return l.SeenNS >= f.EffectiveNS && l.TimeNS <= min(f.overNS(m.EndNS), l.SeenNS+l.TTLNS)
	}
	s := m.Sessions[h.Session]
	return slices.ContainsFunc(h.Leases(), inTime) || s != nil && slices.ContainsFunc(s.Leases, inTime)
}

// leaseAt is when the lease of a hold, as acknowledged up to t, can have run out at the earliest and at the latest; zeros
// if none was.
func (m *Model) leaseAt(h *Hold, t int64) (earliest, latest int64) {
	m.eachLeaseOf(h, func(a acknowledged) {
		for _, l := range a.leases[:a.countFor(h, m.looks())] {
			if l.TimeNS > t {
				break
			}
			earliest, latest = max(earliest, l.SeenNS+l.TTLNS-m.Plan.DriftMS*1e6), max(latest, l.TimeNS+l.TTLNS+m.Plan.GraceMS*1e6)
		}
	})
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

// InForce is when a fault was in force, in nanoseconds since the run's start: from when it may first have worked to when it was
// taken back, or to endNS, the end of the run, if it never was. Of a momentary one: from when it was decided to when it was seen.
func (f *Fault) InForce(endNS int64) (fromNS, toNS int64) {
	if f.Momentary {
		return f.BeginNS, max(f.EffectiveNS, f.BeginNS)
	}
	fromNS = f.EffectiveNS
	if fromNS == 0 {
		fromNS = f.BeginNS
	}
	switch {
	case f.HealNS != 0:
		return fromNS, max(f.HealNS, fromNS)
	case f.HealedNS != 0:
		return fromNS, max(f.HealedNS, fromNS)
	}
	return fromNS, max(endNS, fromNS)
}
