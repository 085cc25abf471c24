package figures

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
)

// narrowings are what of the faults of one name is counted (J9).
var narrowings = []struct {
	name    func(plural string) string
	counts  func(*model.Model, *model.Fault) bool
	happens string // after the one or the plural
	never   string
	rare    bool // it is listed only where it happened, or is required
}{
	{func(plural string) string { return plural }, func(_ *model.Model, f *model.Fault) bool { return f.EffectiveNS != 0 },
		"confirmed", "took effect", false},
	{history.OfHolders, func(m *model.Model, f *model.Fault) bool { return len(m.HeldBy(f)) > 0 || m.KilledHolding(f) },
		"of a client that believed it held a lock", "hit a client that held a lock", false},
	{history.PastLease, func(m *model.Model, f *model.Fault) bool { return outlives(m, f) },
		"of a holder that lasted past the end of its lease", "of a holder outlived its lease", false},
	{history.OfServers, func(m *model.Model, f *model.Fault) bool { return f.EffectiveNS != 0 && m.OfService(f) },
		"of a server", "hit a server", false},
	{history.OfResource, func(_ *model.Model, f *model.Fault) bool {
		return f.EffectiveNS != 0 && f.Target == history.ResourceTarget
	},
		"of the resource", "hit the resource", true},
}

// Exposure counts the contended grants, the faults of each kind that the history or the plan knows, and says of what the
// plan requires whether it happened.
func Exposure(m *model.Model) []model.Exposure {
	required := map[string]int64{}
	for _, r := range m.Plan.Exposure {
		required[r.Name] = max(required[r.Name], r.Min)
	}
	out := []model.Exposure{}
	add := func(name string, count int64, one, many, happens, never string) {
		x := model.Exposure{Name: name, Count: count, Min: required[name]}
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
	kept, letIn := contended(m)
	add(history.ExposureContended, kept, "grant", "grants", "of a lock that another client was waiting for",
		"no client ever waited for a lock that another held")
	if waited := &out[0]; waited.Min > 0 && kept < letIn {
		waited.Min = letIn
		waited.Text = fmt.Sprintf("a client that waited was kept out by %s, and let in by %s: nothing shows that this lock keeps any client out",
			history.Counted(kept, "grant", "grants"), history.Grouped(letIn))
	}
	add(history.ExposureWriters, writers(m), "client", "clients", "whose write under a lock the resource handled and answered",
		"no write under a lock was handled by the resource and answered")
	if m.Plan.Jobs() {
		recorders, slots := Recorders(m)
		add(history.ExposureRecorders, recorders, "client", "clients", "whose record of a slot the resource applied", "no record of a slot was applied")
		add(history.ExposureSlots, slots, "slot", "slots", "recorded as run", "no slot was recorded as run")
	}
	if m.Plan.Works().Long || required[history.ExposureRenewed] > 0 {
		if m.Plan.Works().IfRenewed && !askedLong(m) {
			withoutOwn(required, m.Plan, history.ExposureRenewed)
		}
		add(history.ExposureRenewed, renewed(m), "hold", "holds", "renewed past the end of the first lease", "no hold was renewed past the end of its first lease")
	}
	for _, a := range askedFor(m) {
		if a.count > 0 || a.always || required[a.name] > 0 {
			add(a.name, a.count, a.one, a.many, a.happens, a.never)
		}
	}
	for _, kind := range history.Faults() {
		for _, n := range narrowings {
			name, count := n.name(kind.Exposures), int64(0)
			for _, f := range m.Faults {
				if f.Name == kind.Name && n.counts(m, f) {
					count++
				}
			}
			if met(m, kind.Name) && (!n.rare || count > 0) || required[name] > 0 {
				add(name, count, kind.One, kind.Many, n.happens, "no "+kind.None+" "+n.never)
			}
		}
		if name := history.AtOnce(kind.Exposures); required[name] > 0 {
			add(name, maxConcurrent(m, kind.Name), kind.One, kind.Many, "in effect at the same time", "no "+kind.None+" took effect")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(required)) {
		out = append(out, model.Exposure{Name: name, Min: max(required[name], 1), Text: fmt.Sprintf("this lockcheck cannot count %q, which the plan requires", name)})
	}
	return out
}

// askedOf is something that lock clients were asked to do in the load, and how often.
type askedOf struct {
	name                      string
	count                     int64
	one, many, happens, never string
	always                    bool // it is listed also where it never happened
}

// askedFor counts what lock clients were asked to do: what they do then is not tested otherwise.
func askedFor(m *model.Model) []askedOf {
	var renewals, givenUp, tries int64
	for _, h := range m.Holds {
		if h.Code == history.CodeCancelled && m.InLoad(h.DoneNS) {
			givenUp++
		}
		if !m.InLoad(h.InvokeNS) {
			continue
		}
		if h.Try {
			tries++
		}
		leases := m.LeasesOf(h)
		from, _ := slices.BinarySearchFunc(leases, h.DoneNS+1, func(l model.Lease, ns int64) int { return cmp.Compare(l.TimeNS, ns) })
		for from < len(leases) && leases[from].TimeNS <= h.BelievedNS {
			renewals++
			from++
		}
	}
	return []askedOf{
		{history.ExposureLostReleases, m.LostReleases(), "release", "releases", "of a hold that had been lost before", "no hold that was lost was released", true},
		{history.ExposureRenewals, renewals, "lease", "leases", "extended while their clients held the lock", "no lease was extended while its client held the lock", true},
		{history.ExposureGivenUp, givenUp, "acquire", "acquires", "given up", "no acquire was given up", m.Plan.Works().GivenUp},
		{history.ExposureTries, tries, "acquire", "acquires", "that did not wait (tries)", "no acquire was asked not to wait", m.Plan.Works().Tries},
	}
}

// withoutOwn leaves out of what is required what the plan's other fields ask for: a list that asks for more is kept.
func withoutOwn(required map[string]int64, plan history.Plan, name string) {
	for _, r := range plan.Requirements() {
		if r.Name == name && required[name] <= r.Min {
			delete(required, name)
		}
	}
}

// askedLong reports whether a holder was asked to work past its lease. The harness asks for it once it has seen that leases are renewed,
// and for no time that ordinary work may take. The plan has the lease that was asked for, and the shortest that was granted: the harness
// went by the longer one, or by less.
func askedLong(m *model.Model) bool {
	lease := max(m.Plan.TTLMS, m.Plan.EffectiveMS) * 1e6
	least := max(lease/10*history.LongLeast, m.Plan.Works().ToMS*1e6+1)
	return slices.ContainsFunc(m.Holds, func(h *model.Hold) bool {
		return slices.ContainsFunc(h.Accesses, func(a *model.Access) bool { return a.WorkNS >= least })
	})
}

// renewed counts the holds that their clients believed in after their first lease had run out at the latest, and whose lease had been
// extended before that.
func renewed(m *model.Model) (n int64) {
	for _, h := range m.Holds {
		leases := m.LeasesOf(h)
		next, _ := slices.BinarySearchFunc(leases, h.DoneNS+1, func(l model.Lease, ns int64) int { return cmp.Compare(l.TimeNS, ns) })
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
func writers(m *model.Model) int64 {
	wrote := make([]bool, len(m.Clients)) // by the client's number
	n := int64(0)
	for _, h := range m.Holds {
		if !wrote[h.ClientNumber] && slices.ContainsFunc(h.Accesses, answeredWrite) {
			wrote[h.ClientNumber] = true
			n++
		}
	}
	return n
}

// answeredWrite reports whether it is a write that the resource handled and that was answered, rejected ones included.
func answeredWrite(a *model.Access) bool {
	return a.F == history.Write && (a.Handled != 0 || a.Applied) && (a.Outcome == history.OK || a.Outcome == history.Fail)
}

// maxConcurrent is the largest number of faults of a name that were in effect together: a majority whose members suffer one
// after the other never was one.
func maxConcurrent(m *model.Model, name history.F) (highest int64) {
	type change struct {
		atNS int64
		by   int64
	}
	var changes []change
	for _, f := range m.Faults {
		if f.Name == name && f.EffectiveNS != 0 {
			changes = append(changes, change{f.EffectiveNS, 1}, change{f.OverNS(m.EndNS), -1})
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
func met(m *model.Model, name history.F) bool {
	return slices.ContainsFunc(m.Faults, func(f *model.Fault) bool { return f.Name == name })
}

// outlived are the faults that lasted past the end of a lease of the holder they hit. Here the end is taken as late as
// it can be (a request acknowledged at t extends to t + TTL at most, and the grace that the plan gives it), because what is
// counted is what certainly happened.
func outlived(m *model.Model) []*model.Fault {
	var all []*model.Fault
	for _, f := range m.Faults {
		if outlives(m, f) {
			all = append(all, f)
		}
	}
	return all
}

// outlives counts extensions that were acknowledged during the fault, too: one that leaves the way to the servers open
// does not outlive the lease that goes on being renewed. Where the lock client reports no leases at all, the time to live
// that was asked for counts, from the grant on (rule J9): it says what a run was exposed to, and proves nothing.
func outlives(m *model.Model, f *model.Fault) bool {
	return slices.ContainsFunc(m.HeldBy(f), func(h *model.Hold) bool {
		return m.OutlivesLease(f, h) || !m.Leased && f.OverNS(m.EndNS) > h.DoneNS+m.Plan.TTLMS*1e6
	})
}
