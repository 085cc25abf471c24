package checker

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"lockcheck/checker/history"
)

// faultKinds is how the faults of each name are counted and spoken of; the history may have others.
var faultKinds = []struct {
	name   history.F
	plural string // in names of exposures
	none   string // what there was none of
	one    string
	words  string
}{
	{pauseFault, "pauses", "pause", "pause", "pauses"},
	{"partition", "partitions", "partition", "partition", "partitions"},
	{killFault, "kills", "kill", "kill", "kills"},
	{"clock", "clock-skews", "clock skew", "clock skew", "clock skews"},
	{"failover", "failovers", "failover", "failover", "failovers"},
	{"loss", "losses", "packet loss", "stretch of packet loss", "stretches of packet loss"},
}

// narrowings are what of the faults of one name is counted (J9).
var narrowings = []struct {
	name    func(plural string) string
	counts  func(*judge, *Fault) bool
	happens string // after the one or the plural
	never   string
}{
	{func(plural string) string { return plural }, func(_ *judge, f *Fault) bool { return f.EffectiveNS != 0 },
		"seen to take effect", "took effect"},
	// What a killed client believed in when it was killed only the harness's last word of it says.
	{history.OfHolders, func(j *judge, f *Fault) bool {
		return len(j.m.heldBy(f)) > 0 || f.Name == killFault && f.EffectiveNS != 0 && f.Hold != ""
	},
		"of a client that believed it held a lock", "hit a client that held a lock"},
	{history.PastLease, func(j *judge, f *Fault) bool { return j.m.outlives(f) },
		"of a holder that lasted past the end of its lease", "of a holder outlived its lease"},
	{history.OfServers, func(j *judge, f *Fault) bool { return f.EffectiveNS != 0 && !j.m.ofClient(f) },
		"of a server", "hit a server"},
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
	add(history.ExposureContended, j.contended(), "grant", "grants", "of a lock that another client was waiting for",
		"no client ever waited for a lock that another held")
	for _, kind := range faultKinds {
		for _, n := range narrowings {
			name, count := n.name(kind.plural), int64(0)
			for _, f := range j.m.Faults {
				if f.Name == kind.name && n.counts(j, f) {
					count++
				}
			}
			if j.m.met(kind.name) || required[name] > 0 {
				add(name, count, kind.one, kind.words, n.happens, "no "+kind.none+" "+n.never)
			}
		}
		if name := history.AtOnce(kind.plural); required[name] > 0 {
			add(name, j.m.atOnce(kind.name), kind.one, kind.words, "in effect at the same time", "no "+kind.none+" took effect")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(required)) {
		out = append(out, Exposure{Name: name, Min: max(required[name], 1), Text: fmt.Sprintf("this lockcheck cannot count %q, which the plan requires", name)})
	}
	return out
}

// atOnce is the most faults of a name that were in effect together: a majority whose members suffer one after the other
// never was one.
func (m *Model) atOnce(name history.F) (most int64) {
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
		most = max(most, now)
	}
	return most
}

// met tells whether the history has a fault of that name, whatever came of it.
func (m *Model) met(name history.F) bool {
	return slices.ContainsFunc(m.Faults, func(f *Fault) bool { return f.Name == name })
}

// ofClient tells whether a fault's target is a client.
func (m *Model) ofClient(f *Fault) bool { return m.Clients[f.Target] != nil }

// contended counts grants that another client's acquire of the same lock waited for while they were held.
func (j *judge) contended() (n int64) {
	for _, k := range j.keys {
		before, by := queued{acquires: k.acquires}, queued{acquires: k.acquires} // asked for before the grant, and by then
		run := sameClient{acquires: k.acquires}
		for _, h := range k.grants {
			before.until(h.DoneNS)
			by.until(h.DoneNS + 1)
			heldNS := max(h.DoneNS, h.BelievedNS, h.ProvenNS)
			switch {
			case before.other(h.client) > h.DoneNS:
				n++
			case heldNS == h.DoneNS:
			case by.other(h.client) > h.DoneNS:
				n++
			default: // whoever asked later has waited for longer than up to the grant
				if at := run.end(by.n, h.client); at < len(k.acquires) && k.acquires[at].InvokeNS < heldNS {
					n++
				}
			}
		}
	}
	return n
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

// Faults that the checker has to know by name.
const (
	pauseFault history.F = "pause" // stops a process
	killFault  history.F = "kill"  // ends it
)

// outlived are the faults that lasted past the end of a lease of the holder they hit. Here the end is taken as late as
// it can be (a request acknowledged at t extends to t + TTL at most), because what is counted is what certainly happened.
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
// does not outlive the lease that goes on being renewed.
func (m *Model) outlives(f *Fault) bool {
	return slices.ContainsFunc(m.heldBy(f), func(h *Hold) bool { return m.outlivesLease(f, h) })
}

func (m *Model) outlivesLease(f *Fault, h *Hold) bool {
	over := f.overNS(m.EndNS)
	_, latest := m.leaseAt(h, over)
	return latest != 0 && over > latest
}

// heldBy are the holds that the target of a fault was known to believe in when the fault took effect, in the order of
// their grants.
func (m *Model) heldBy(f *Fault) []*Hold {
	if m.hit == nil {
		m.hit = m.holdsHit()
	}
	return m.hit[f]
}

// holdsHit are those of all faults, found in one pass over the holds.
func (m *Model) holdsHit() map[*Fault][]*Hold {
	hit, faults := map[*Fault][]*Hold{}, map[string][]*Fault{} // by target, in the order of their effects
	for _, f := range m.Faults {
		if f.EffectiveNS != 0 {
			faults[f.Target] = append(faults[f.Target], f)
		}
	}
	byEffect := func(a, b *Fault) int { return cmp.Compare(a.EffectiveNS, b.EffectiveNS) }
	for _, list := range faults {
		slices.SortStableFunc(list, byEffect)
	}
	if len(faults) == 0 {
		return hit
	}
	for _, h := range m.Holds {
		if h.BelievedNS == 0 {
			continue
		}
		list := faults[h.Client]
		first, _ := slices.BinarySearchFunc(list, &Fault{EffectiveNS: h.DoneNS}, byEffect)
		for _, f := range list[first:] {
			if f.EffectiveNS > h.BelievedNS {
				break
			}
			hit[f] = append(hit[f], h)
		}
	}
	for _, holds := range hit {
		sortInOrder(holds, func(a, b *Hold) int { return cmp.Compare(a.DoneNS, b.DoneNS) })
	}
	return hit
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
	take(h.Leases())
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
