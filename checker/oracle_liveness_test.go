package checker

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"
	"sync/atomic"
	"testing"

	"lockcheck/checker/history"
)

const aSecond = int64(1e9) // everything here happens at whole seconds

// live is J8 by counting seconds.
func (o *oracle) live() answer {
	bound := max(30, 5*(o.plan.EffectiveMS+o.plan.ElectionMS)/1000)
	end := o.events[len(o.events)-1].TimeNS / aSecond
	if o.deadLock(bound, end) || o.zombie(bound, end) {
		return illegal
	}
	return legal
}

func (o *oracle) stalledIn(s int64) bool {
	return slices.ContainsFunc(o.events, func(e history.Event) bool {
		return e.F == history.Stall && e.FromNS <= s*aSecond && e.TimeNS >= (s+1)*aSecond
	})
}

// set is by how many seconds the wall clock was set, forward or back, from one second to another.
func (o *oracle) set(from, to int64) int64 {
	sum := int64(0)
	for _, e := range o.events {
		if e.F == history.ClockStep && e.TimeNS >= from*aSecond && e.FromNS <= to*aSecond {
			sum += max(e.SkewNS/aSecond, -e.SkewNS/aSecond)
		}
	}
	return sum
}

// behind is how many seconds longer than its TTL a lease lasts from a moment on that was given, by the wall clock, before
// then: of the latest one to end.
func (o *oracle) behind(at int64) int64 {
	shows := func(s int64) int64 { // the wall clock, before it is set in that second
		set := int64(0)
		for _, e := range o.events {
			if e.F == history.ClockStep && e.TimeNS < s*aSecond {
				set += e.SkewNS / aSecond
			}
		}
		return s + set
	}
	longest := int64(0)
	for s := range at {
		longest = max(longest, shows(s)-shows(at))
	}
	return longest
}

// deadLock: twice in a row somebody has to get the lock, and the wait goes on over requests that came to nothing.
func (o *oracle) deadLock(bound, end int64) bool {
	final := o.first(func(e *history.Event) bool { return e.F == history.Phase && e.Value == history.PhaseFinal })
	if final == 0 {
		return false
	}
	var asking []*fact
	for _, h := range o.holds {
		if h.invoke >= final {
			asking = append(asking, h)
		}
	}
	for range 2 {
		if len(asking) == 0 {
			return false
		}
		from, until, got := asking[0].invoke/aSecond, end, -1
		for i, h := range asking {
			if h.outcome == history.OK && (got < 0 || h.done < asking[got].done) {
				got, until = i, h.done/aSecond
			}
		}
		// What came before the service last failed a plain write does not count, nor does any of it without one that
		// succeeded since.
		works := false
		for _, e := range o.events {
			if e.F != history.Probe || e.Type != history.Invoke || e.TimeNS > until*aSecond {
				continue
			}
			done := int64(0)
			ok := false
			for _, c := range o.events {
				if c.F == history.Probe && c.Op == e.Op && c.Type != history.Invoke {
					done, ok = c.TimeNS/aSecond, c.Type == history.OK
				}
			}
			switch {
			case ok && done >= from:
				works = true
			case !ok:
				from, works = max(from, done, e.TimeNS/aSecond), false
			}
		}
		waited := -o.behind(from) - o.set(from, until)
		for s := from; s < until; s++ {
			if !o.stalledIn(s) {
				waited++
			}
		}
		if waited > bound && works {
			return true
		}
		if got < 0 {
			return false
		}
		granted := asking[got].client
		asking = slices.DeleteFunc(slices.Clone(asking[got+1:]), func(h *fact) bool { return h.client == granted })
	}
	return false
}

// zombie: an acquire that still waits, undisturbed, long after its own session's end.
func (o *oracle) zombie(bound, end int64) bool {
	for _, h := range o.holds {
		began := map[string]int64{}
		for _, e := range o.events {
			if e.Client == h.client && e.Session != "" && (e.Type == history.OK || e.Type == history.Fail || e.F == history.Lost) {
				if _, known := began[e.Session]; !known {
					began[e.Session] = e.TimeNS
				}
			}
		}
		session := ""
		for name, at := range began {
			if session == "" || at > began[session] {
				session = name
			}
		}
		ended := o.first(func(e *history.Event) bool {
			return e.F == history.Renew && e.Op == 0 && e.Type == history.Fail && e.Hold == "" && e.Session == session && session != ""
		})
		if ended == 0 || began[session] >= h.invoke || ended < h.invoke {
			continue
		}
		until := end
		if h.outcome != history.Invoke {
			until = h.done / aSecond
		}
		for _, at := range []int64{o.exits(h.client), o.asksToClose(h.client)} {
			if at != 0 {
				until = min(until, at/aSecond)
			}
		}
		waited := -o.set(ended/aSecond, until)
		for s := ended / aSecond; s < until; s++ {
			if !o.stalledIn(s) && !o.disturbedIn(s, end) {
				waited++
			}
		}
		if waited > bound {
			return true
		}
	}
	return false
}

func (o *oracle) disturbedIn(s, end int64) bool {
	for _, f := range o.events {
		if f.Process != history.NemesisProcess || f.Type != history.Invoke || f.Heal {
			continue
		}
		gone := end * aSecond
		for _, e := range o.events {
			if e.Process == history.NemesisProcess && e.Op == f.Op && e.Heal && e.Type == history.OK {
				gone = e.TimeNS
			}
		}
		if f.TimeNS <= s*aSecond && gone >= (s+1)*aSecond {
			return true
		}
	}
	return false
}

// randomEnding makes a history that is mostly its final phase, or a client that waits beyond its session.
func randomEnding(seed uint64) *scribe {
	r := rand.New(rand.NewPCG(seed, 9))
	s := &scribe{r: r, plan: history.Plan{Version: history.FormatVersion, EffectiveMS: 2000, ElectionMS: 1000, Tokens: history.TokensNone, SameKernel: true}}
	if r.IntN(3) == 0 {
		s.plan.ElectionMS = 5000
	}
	add := func(at int64, e history.Event) {
		e.TimeNS = at * aSecond
		s.events = append(s.events, e)
	}
	upTo := func(n int) int64 { return int64(r.IntN(n)) }
	op := int64(0)
	span := func(at, length int64, first, last history.Event) {
		op++
		first.Op, last.Op = op, op
		add(at, first)
		add(at+length, last)
	}
	harness := func(kind history.Type, f history.F, value string) history.Event {
		return history.Event{Process: history.HarnessProcess, Type: kind, F: f, Value: value}
	}
	client := func(c string, kind history.Type, f history.F) history.Event {
		return history.Event{Process: c, Client: c, Type: kind, F: f, Hold: "h" + c, Key: "k"}
	}
	final, end := 20+upTo(40), int64(0)
	end = final + 40 + upTo(50)
	add(0, harness(history.Info, history.Phase, history.PhaseLoad))
	add(final, harness(history.Info, history.Phase, history.PhaseFinal))
	acquire := func(c string, at, longest int64) {
		done := client(c, []history.Type{history.OK, history.OK, history.Fail, history.Fail, history.Info}[r.IntN(5)], history.Acquire)
		span(at, min(upTo(int(longest)), end-at), client(c, history.Invoke, history.Acquire), done)
		if r.IntN(3) == 0 {
			s.events = s.events[:len(s.events)-1] // never answered
		}
	}
	if r.IntN(3) > 0 { // a client whose session ends while it waits
		for n := range 1 + r.IntN(2) {
			e := client("z", history.OK, history.Renew)
			e.Hold, e.Key, e.Session = "", "", fmt.Sprint("s", n)
			add(int64(6*n)+upTo(6), e)
			e.Type = history.Fail
			add(12+upTo(20), e)
		}
		acquire("z", upTo(12), 100)
		if r.IntN(3) == 0 {
			e := client("z", []history.Type{history.Invoke, history.Info}[r.IntN(2)], history.Exit)
			e.Hold, e.Key = "", ""
			add(10+upTo(80), e)
		}
	}
	at := final
	for n := range 1 + r.IntN(4) {
		at += upTo(15)
		if at < end {
			acquire(fmt.Sprint("f", n), at, 70)
		}
	}
	for range r.IntN(3) {
		from := upTo(int(end))
		e := harness(history.Info, history.Stall, "")
		e.FromNS = from * aSecond
		add(from+upTo(10), e)
	}
	for range r.IntN(5) / 2 {
		from := upTo(int(end))
		e := harness(history.Info, history.ClockStep, "")
		e.FromNS, e.SkewNS = from*aSecond, (upTo(24)-12)*aSecond
		add(from+upTo(2), e)
	}
	for range r.IntN(2) {
		fault := history.Event{Process: history.NemesisProcess, F: "pause", Target: "z", Type: history.Invoke}
		healed := fault
		healed.Type, healed.Heal = history.OK, true
		span(1+upTo(30), upTo(20), fault, healed)
	}
	for at := final + upTo(5); at < end; at += 2 + upTo(20) {
		span(at, upTo(2), harness(history.Invoke, history.Probe, ""), harness([]history.Type{history.OK, history.OK, history.OK, history.Fail, history.Info}[r.IntN(5)], history.Probe, ""))
	}
	sort.SliceStable(s.events, func(a, b int) bool { return s.events[a].TimeNS < s.events[b].TimeNS })
	for s.events[len(s.events)-1].TimeNS > end*aSecond {
		s.events = s.events[:len(s.events)-1]
	}
	add(end, harness(history.Info, history.Phase, history.PhaseEnd))
	for i := range s.events {
		s.events[i].Index = int64(i)
	}
	return s
}

func TestLivenessAgreesWithCountingSeconds(t *testing.T) {
	s := second{property: Liveness, oracle: inWords((*oracle).live), checker: verdictOf(Liveness)}
	n := histories(t, 20_000)
	var dead atomic.Int64
	inParallel(t, n, func(seed uint64) error {
		violated, err := s.judge(randomEnding(seed), 0)
		if violated {
			dead.Add(1)
		}
		return err
	})
	share := float64(dead.Load()) / float64(n)
	t.Logf("violated in %.0f %%", 100*share)
	if n >= 1000 && (share < 0.3 || share > 0.7) {
		t.Errorf("violated in %.0f %%: one-sided", 100*share)
	}
}
