package model

import (
	"cmp"
	"slices"

	"lockcheck/checker/history"
)

// free is what is known of all locks that were free while they were wanted.
type free struct {
	FreeWanted
	Hung map[*Lock]HungStretch // the first stretch of a lock that is longer than its bound
	Long []Span                // stretches of a second and more, merged
}

// HungStretch is one stretch, with what a finding says of it.
type HungStretch struct {
	Span
	CountedNS int64
	Waiter    *Hold
	Bound     history.Bound
}

// longProbe is how long a plain write may take that shows a service which is able.
const longProbe = 5e9

// FreeWhileWanted goes over every lock once.
func (m *Model) FreeWhileWanted() *free {
	m.derived.freeOnce.Do(func() { m.derived.free = m.findFree(true) })
	return m.derived.free
}

// FreeWhateverSilent is FreeWhileWanted as if all clients had answered their pings.
func (m *Model) FreeWhateverSilent() *free { return m.findFree(false) }

func (m *Model) findFree(silences bool) *free {
	found := &free{Hung: map[*Lock]HungStretch{}}
	load, heal := m.Phase(history.PhaseLoad)
	to, _ := m.Phase(history.PhaseFinal)
	if to == 0 {
		to = m.EndNS
	}
	able := m.able()
	switch {
	case len(m.Phases) == 0:
		found.NotJudged = "the recording has no load"
	case !m.Plan.SameKernel:
		found.NotJudged = m.Plan.ElsewhereWords()
	case len(able) == 0 || able[0].FromNS >= heal:
		found.NotJudged = "no plain writes to the service were made during the load"
	}
	if found.NotJudged != "" {
		return found
	}
	touch := m.Touches()
	if silences {
		touch.silence(m)
	}
	for _, k := range m.Locks {
		s := freeSweep{m: m, k: k, found: found, load: Span{load, heal}, able: able, touch: touch, least: m.MinBoundNS()}
		if silences && m.AnySilent() {
			s.unheard = m.Silences(k)
		}
		s.look(Span{load, to})
	}
	found.Long = Merged(found.Long)
	if heal > load {
		found.Share = Rounded(float64(found.TotalNS)/float64(heal-load)/float64(max(len(m.Locks), 1)), 10000)
	}
	return found
}

// able are the stretches in which the service was able to grant a lock, as far as that is known: plain writes to it succeeded, one after
// the other, and a server led where one is known to lead. A write that took long counts as one that failed.
func (m *Model) able() (spans []Span) {
	last := int64(-1)
	for _, p := range m.Probes {
		switch n := len(spans); {
		case !p.OK || p.DoneNS == 0 || p.DoneNS-p.InvokeNS > longProbe:
			last = -1
			continue
		case last < 0:
		case n > 0 && spans[n-1].ToNS == last:
			spans[n-1].ToNS = max(last, p.DoneNS)
		case p.DoneNS > last:
			spans = append(spans, Span{last, p.DoneNS})
		}
		last = max(last, p.DoneNS)
	}
	for i, l := range m.Leaders {
		if l.Value != "" {
			continue
		}
		until := m.EndNS
		if i+1 < len(m.Leaders) {
			until = m.Leaders[i+1].TimeNS
		}
		spans = minus(spans, Span{l.TimeNS, until})
	}
	return spans
}

// touches are, for each client by its number, when a fault of its own or of a server touched it, and for as long after that as one lease and
// one election may take, merged; the part of that in which the client's own network was disturbed: its requests may have arrived although
// no answer came back; Any without pauses of its own; when its process was stopped; when it was silent, with that time; and when it was that
// or its network was disturbed. Leases are those of sessions, the latest that each may last by its acknowledgements.
type touches struct {
	Any, network, ButPauses, Stopped, silent, unheard [][]Span
	leases                                            map[*Session]int64
}

// silence takes in when clients answered no pings: each may have been granted a lock, or have renewed it, and not have said so.
func (t *touches) silence(m *Model) {
	for _, c := range m.Clients {
		for _, s := range c.Silent {
			t.silent[c.number] = append(t.silent[c.number], Span{s.FromNS, s.ToNS + m.RecoveryNS()})
		}
		t.unheard[c.number] = Merged(slices.Concat(t.network[c.number], t.silent[c.number]))
	}
}

// Touches is when faults touched each client.
func (m *Model) Touches() touches {
	var ofService []Span
	own, network, butPauses, stopped := map[string][]Span{}, map[string][]Span{}, map[string][]Span{}, map[string][]Span{}
	for _, f := range m.Faults {
		if f.Target == history.ResourceTarget {
			continue
		}
		s := Span{f.BeginNS, f.touchedUntil(m) + m.RecoveryNS()}
		if f.EffectiveNS == 0 && f.HealNS == 0 && f.failedNS != 0 {
			s.ToNS = f.failedNS + m.RecoveryNS() // it may have worked without being seen to
		}
		switch {
		case !m.OfClient(f):
			s.ToNS += max(f.SkewNS, 0) // its clock is set back by that when the fault is healed
			ofService = append(ofService, s)
		default:
			own[f.Target] = append(own[f.Target], s)
			if f.Name != history.PauseFault || f.EffectiveNS == 0 {
				butPauses[f.Target] = append(butPauses[f.Target], s)
			}
			switch {
			case f.Name == history.PauseFault && f.EffectiveNS != 0:
				stopped[f.Target] = append(stopped[f.Target], Span{f.EffectiveNS, f.OverNS(m.EndNS)})
			case f.Name != history.PauseFault && f.Name != history.KillFault:
				network[f.Target] = append(network[f.Target], s)
			}
		}
	}
	for _, s := range m.Steps {
		if s.ByNS < 0 {
			ofService = append(ofService, Span{s.FromNS, s.ToNS - s.ByNS + m.RecoveryNS()})
		}
	}
	ofService = Merged(ofService)
	perClient := func() [][]Span { return make([][]Span, len(m.Clients)) }
	t := touches{perClient(), perClient(), perClient(), perClient(), perClient(), perClient(), map[*Session]int64{}}
	for name, c := range m.Clients {
		t.Any[c.number], t.ButPauses[c.number] = ofService, ofService
		if len(own[name]) > 0 {
			t.Any[c.number] = Merged(slices.Concat(ofService, own[name]))
			t.ButPauses[c.number] = Merged(slices.Concat(ofService, butPauses[name]))
		}
		t.network[c.number], t.Stopped[c.number] = Merged(network[name]), Merged(stopped[name])
		t.unheard[c.number] = t.network[c.number]
	}
	for _, s := range m.Sessions {
		t.leases[s] = m.latestEnd(s.Leases)
	}
	return t
}

// latestEnd is when the last of some acknowledged leases is over at the service at the latest; 0 of none.
func (m *Model) latestEnd(leases []Lease) (latest int64) {
	for _, l := range leases {
		latest = max(latest, l.TimeNS+l.TTLNS+m.Plan.GraceMS*1e6)
	}
	return latest
}

// freeSweep looks at one lock in a single pass over its grants and its acquires, each in their order. It keeps the acquires that wait: no
// more than there are clients; and the stretches in which acquires of unknown outcome, or touched by a fault, may have had it, merged.
type freeSweep struct {
	m     *Model
	k     *Lock
	found *free
	load  Span
	able  []Span
	touch touches
	least int64 // no bound is shorter

	unheard []Span // when clients that waited for it, or may have held it, were silent

	asked   int // so many acquires have been looked at
	waiting []waiter
}

// waiter is an acquire that waits, undisturbed.
type waiter struct {
	Span
	*Hold
}

func (s *freeSweep) look(run Span) {
	taken := s.taken()
	from := run.FromNS // no client is known to have had it from here on
	upTo := func(to int64) {
		for ; len(taken) > 0 && taken[0].FromNS < to; taken = taken[1:] {
			s.unheld(Span{from, taken[0].FromNS})
			from = max(from, taken[0].ToNS)
		}
		s.unheld(Span{from, to})
	}
	for _, g := range s.k.Grants {
		if g.DoneNS >= run.ToNS {
			break
		}
		upTo(g.DoneNS)
		from = max(from, g.DoneNS, s.heldUntil(g))
	}
	upTo(run.ToNS)
}

// heldUntil is when a grant had ended for certain: it was given back, the service had said that it, or its session, is gone, or its
// acknowledged lease was over and what the service adds to it, or its loss is proven; and its client was not seen to believe in it any more.
// Never if none of it is known.
func (s *freeSweep) heldUntil(g *Hold) int64 {
	until := min(s.goneBy(g), s.leaseOver(g), cmp.Or(g.LossNS, Never))
	if until == Never {
		return Never
	}
	return max(until, s.awakeUntil(g, until), g.actedNS())
}

// goneBy is when the service had said that a grant, or its session, is gone; never if it did not.
func (s *freeSweep) goneBy(g *Hold) int64 {
	until := int64(Never)
	if g.EndedNS != 0 {
		until = g.EndedNS + s.m.Plan.LockDelayMS*1e6
	}
	for _, a := range g.Attempts {
		if a.Gone() {
			until = min(until, a.DoneNS)
		}
	}
	return until
}

// leaseOver is when the acknowledged lease of a grant was over, and what the service adds to it; never if none is known. Whoever is cut off
// may renew it unanswered, and a client need not report what it renews: only of one that did, or that was stopped or ended, is it known.
func (s *freeSweep) leaseOver(g *Hold) int64 {
	latest := s.m.latestEnd(g.Leases())
	if session := s.m.Sessions[g.Session]; session != nil {
		latest = max(latest, s.touch.leases[session])
	}
	if latest == 0 {
		return Never
	}
	heard := renewedBeyond(s.touch.network[g.ClientNumber], g.DoneNS, latest) // its end if no client had been silent
	latest = renewedBeyond(s.touch.unheard[g.ClientNumber], g.DoneNS, latest)
	exit := s.m.Clients[g.Client].ExitNS
	switch {
	case s.renews(g), s.stoppedAt(g, heard) && s.stoppedAt(g, latest):
	case exit != 0:
		latest = max(latest, exit+s.m.RecoveryNS())
	default:
		return Never
	}
	return latest + s.m.Plan.LockDelayMS*1e6
}

// renewedBeyond is the end of a lease that may have been renewed in some spans after a grant, each of which begins before it is over.
func renewedBeyond(spans []Span, since, end int64) int64 {
	for _, s := range endingAfter(spans, since) {
		if s.FromNS >= end {
			break
		}
		end = max(end, s.ToNS)
	}
	return end
}

// renews reports whether the client of a grant reported that its lease was extended.
func (s *freeSweep) renews(g *Hold) bool {
	leases := s.m.LeasesOf(g)
	return len(leases) > 1 && leases[len(leases)-1].TimeNS > g.DoneNS
}

// stoppedAt reports whether the client of a grant was stopped when its lease was over, and since before that.
func (s *freeSweep) stoppedAt(g *Hold, ns int64) bool {
	stops := endingAfter(s.touch.Stopped[g.ClientNumber], ns)
	return len(stops) > 0 && stops[0].FromNS <= ns
}

// awakeUntil is until when a client that was not stopped was seen to believe in a grant that had ended otherwise by then. One that is
// stopped believes until it is let go (rule R4), and keeps no lock by that.
func (s *freeSweep) awakeUntil(g *Hold, endedNS int64) int64 {
	if g.BelievedNS <= endedNS {
		return g.BelievedNS
	}
	for _, stop := range endingAfter(s.touch.Stopped[g.ClientNumber], endedNS) {
		if stop.FromNS >= g.DoneNS && stop.FromNS < g.BelievedNS {
			return stop.FromNS
		}
	}
	return g.BelievedNS
}

// taken are the stretches in which a client may have had the lock that was not granted it, or not any more, merged: by an acquire of unknown
// outcome for as long as its client lives, and then until its record has run out; by one that waits, from a fault that touches it on, and
// while its client is silent; and by the belief of one that had been stopped.
func (s *freeSweep) taken() (spans []Span) {
	m := s.m
	add := func(span Span) {
		if n := len(spans); n > 0 && span.FromNS >= spans[n-1].FromNS && span.FromNS <= spans[n-1].ToNS {
			spans[n-1].ToNS = max(spans[n-1].ToNS, span.ToNS)
		} else if span.FromNS < span.ToNS {
			spans = append(spans, span)
		}
	}
	for _, h := range s.k.Acquires {
		until := m.WaitsUntil(h)
		for _, mayHave := range [][]Span{s.touching(h), s.silent(h)} {
			for _, t := range mayHave {
				if t.FromNS >= until {
					break
				}
				add(Span{max(t.FromNS, h.InvokeNS), min(t.ToNS, until)})
			}
		}
		switch exit := m.Clients[h.Client].ExitNS; {
		case h.Outcome == history.Info:
			add(Span{m.MayHoldSince(h, s.unheard), s.unknownUntil(h)})
		case h.Outcome == history.Invoke && exit != 0:
			add(Span{until, exit + m.RecoveryNS()})
		case h.Outcome == history.OK && h.BelievedNS != 0:
			for _, stop := range endingAfter(s.touch.Stopped[h.ClientNumber], h.DoneNS) {
				if stop.ToNS >= h.BelievedNS {
					break
				}
				if stop.FromNS >= h.DoneNS {
					add(Span{stop.ToNS, h.BelievedNS})
					break
				}
			}
		}
	}
	return Merged(spans)
}

// unknownUntil is until when an acquire of unknown outcome may keep the lock: what its client, or its session, left when it ended runs out.
func (s *freeSweep) unknownUntil(h *Hold) int64 {
	until := s.m.MayHoldUntil(h)
	if until == Never {
		return Never
	}
	return until + s.m.RecoveryNS()
}

// unheld takes a stretch in which no client had the lock apart.
func (s *freeSweep) unheld(gap Span) {
	if gap.ToNS <= gap.FromNS {
		return
	}
	for len(s.able) > 0 && s.able[0].ToNS <= gap.FromNS {
		s.able = s.able[1:]
	}
	for _, a := range s.able {
		if a.FromNS >= gap.ToNS {
			break
		}
		s.wanted(Span{max(gap.FromNS, a.FromNS), min(gap.ToNS, a.ToNS)})
	}
}

// wanted finds the parts of a stretch in which a client waited.
func (s *freeSweep) wanted(gap Span) {
	s.waiting = slices.DeleteFunc(s.waiting, func(w waiter) bool { return w.ToNS <= gap.FromNS })
	for ; s.asked < len(s.k.Acquires) && s.k.Acquires[s.asked].InvokeNS < gap.ToNS; s.asked++ {
		h := s.k.Acquires[s.asked]
		if until := s.waitsCalmly(h); !h.Try && until > max(gap.FromNS, h.InvokeNS) {
			s.waiting = append(s.waiting, waiter{Span{h.InvokeNS, until}, h})
		}
	}
	var now Span
	var first *Hold
	for _, w := range s.waiting { // in the order of their invocations
		from, to := max(w.FromNS, gap.FromNS), min(w.ToNS, gap.ToNS)
		switch {
		case first != nil && from <= now.ToNS:
			now.ToNS = max(now.ToNS, to)
			continue
		case first != nil:
			s.stretch(now, first)
		}
		now, first = Span{from, to}, w.Hold
	}
	if first != nil {
		s.stretch(now, first)
	}
}

// waitsCalmly is until when an acquire waited without a fault that touched it since it was asked, or so shortly before that a lease or an
// election may have been under way; its invocation if it did not.
func (s *freeSweep) waitsCalmly(h *Hold) int64 {
	until := s.m.WaitsUntil(h)
	if touching := s.touching(h); len(touching) > 0 {
		return min(until, max(touching[0].FromNS, h.InvokeNS))
	}
	return until
}

// touching is when faults touched the client of an acquire or a server, from when it was asked on.
func (s *freeSweep) touching(h *Hold) []Span {
	return endingAfter(s.touch.Any[h.ClientNumber], h.InvokeNS)
}

// silent is when the client of an acquire was silent, from when it was asked on, and for a recovery after.
func (s *freeSweep) silent(h *Hold) []Span {
	return endingAfter(s.touch.silent[h.ClientNumber], h.InvokeNS+s.m.RecoveryNS())
}

// stretch takes in one in which the lock was free and wanted.
func (s *freeSweep) stretch(of Span, first *Hold) {
	counted := of.ToNS - of.FromNS - Within(s.m.Stalls, of.FromNS, of.ToNS)
	s.found.TotalNS += max(min(of.ToNS, s.load.ToNS)-max(of.FromNS, s.load.FromNS)-Within(s.m.Stalls, max(of.FromNS, s.load.FromNS), min(of.ToNS, s.load.ToNS)), 0)
	if counted > s.found.Longest.NS {
		s.found.Longest = FreeStretch{NS: counted, FromNS: of.FromNS, Key: s.k.Name, Client: first.Client, Long: s.m.LongWait(counted)}
	}
	if counted >= 1e9 {
		s.found.Long = append(s.found.Long, of)
	}
	if counted > s.least && s.found.Hung[s.k].Waiter == nil {
		if b := s.m.Bound(of.FromNS, of.ToNS); counted > b.NS() {
			s.found.Hung[s.k] = HungStretch{of, counted, first, b}
		}
	}
}
