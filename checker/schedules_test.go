package checker

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
	"lockcheck/checker/testkit"
)

// randomSchedule is a history of jobs in which all happens at whole seconds: clients that wait for a lock, hold it and record slots, and
// die or give up, with stalls, faults and plain writes to the service between.
func randomSchedule(seed uint64) *testkit.Scribe {
	r := rand.New(rand.NewPCG(seed, 12))
	e := &ending{Scribe: &testkit.Scribe{R: r, Plan: history.Plan{
		Version: history.FormatVersion, EffectiveMS: 2000, ElectionMS: 1000, Tokens: history.TokensNone, SameKernel: true,
		SlotMS: 1000 * (1 + r.Int64N(8)), Execution: history.AtLeastOnce, Resource: history.ResourcePlain,
	}}}
	e.end = 50 + e.upTo(60)
	e.final = e.end - e.upTo(10)
	e.mark(0, history.PhaseLoad)
	e.mark(e.final, history.PhaseHeal)
	e.holders()
	for i := range 1 + r.IntN(3) {
		e.waits(fmt.Sprint("w", i))
	}
	e.disturbances()
	e.waiting = 1 // probes are made from then on
	e.probes()
	e.silences(seed)
	e.finish()
	return e.Scribe
}

// holders have the lock one after the other, and mostly record a slot.
func (e *ending) holders() {
	value, slot := "", int64(1)
	at := 1 + e.upTo(3)
	for n := 0; at < e.final && n < 6; n++ {
		name := fmt.Sprint("c", n)
		asked, granted := e.client(name, history.Invoke, history.Acquire), e.client(name, history.OK, history.Acquire)
		if e.oneIn(8) {
			granted.Type = history.Info
		}
		e.span(at, 1, asked, granted)
		at++
		if granted.Type == history.OK && e.oneIn(3) == false {
			record := history.JobRecord(slot, name)
			write, done := e.client(name, history.Invoke, history.Write), e.client(name, history.OK, history.Write)
			write.Value, write.Base, write.Key, done.Key = record, value, "", ""
			if e.oneIn(5) {
				done.Type = history.Info
			}
			e.span(at, 1, write, done)
			e.Requests = append(e.Requests, history.Request{Seq: int64(len(e.Requests) + 1), Request: fmt.Sprint(e.op), Key: "k", Kind: history.KindWrite,
				Hold: "h" + name, Value: record, Base: value, Outcome: history.Applied, TimeNS: at * aSecond})
			value, slot = record, slot+1
			at++
		}
		switch e.R.IntN(5) {
		case 0:
			e.exit(name, history.Info, at+e.upTo(3))
		case 1:
			first, last := e.client(name, history.Invoke, history.Release), e.client(name, history.Info, history.Release)
			first.Key, last.Key = "", ""
			e.span(at, 1, first, last)
			if e.oneIn(2) {
				e.exit(name, history.Info, at+1+e.upTo(20))
			}
		default:
			first, last := e.client(name, history.Invoke, history.Release), e.client(name, history.OK, history.Release)
			first.Key, last.Key = "", ""
			e.span(at, 1, first, last)
		}
		at += 2 + e.upTo(4)
		if e.oneIn(2) {
			at += 20 + e.upTo(40)
		}
	}
}

// waits is a client that asks for the lock and is not granted it.
func (e *ending) waits(name string) {
	at := e.upTo(30)
	last := e.client(name, history.Invoke, history.Acquire)
	if e.oneIn(3) {
		last = e.client(name, history.Fail, history.Acquire)
		last.Code = history.CodeCancelled
	}
	first := e.client(name, history.Invoke, history.Acquire)
	first.Try = e.oneIn(8)
	e.span(at, 10+e.upTo(50), first, last)
}

// MissedExecution is J12 by counting seconds: the longest stretch in which a slot was due and not recorded, nothing was being recorded,
// and no client can have kept the lock; of it, those seconds count in which nothing disturbed the run and a client waited, or had the
// lock and then gave it back.
func (o *oracle) missedExecution() string {
	end := o.first(func(e *history.Event) bool { return e.F == history.Phase && e.Value == history.PhaseHeal }) / aSecond
	last := o.events[len(o.events)-1].TimeNS / aSecond
	from := int64(0)
	for s := int64(0); s <= end; s++ {
		granted := slices.ContainsFunc(o.holds, func(h *fact) bool { return h.done == s*aSecond && o.heldUntil(h) >= s && !o.gaveBack(h) })
		if s < end && !granted && !o.resets(s) {
			continue
		}
		if from < s && o.waited(from, s, func(t int64) bool {
			return o.stalledIn(t) || o.disturbedIn(t, last) || o.silentIn(t, last) || !o.anyAsksIn(t, last)
		}) {
			return "violated"
		}
		if from = s; o.resets(s) {
			from = s + 1
		}
	}
	return ""
}

// resets reports whether in a second no slot was due, one was being recorded, or a client can have had the lock.
func (o *oracle) resets(s int64) bool {
	recorded, next := map[int64]bool{}, int64(1)
	for i, q := range o.requests {
		slot, _ := history.RecordedSlot(q.Value)
		asked, answered := int64(0), int64(model.Never) // or another was that the resource handled later
		for _, h := range o.holds {
			for _, a := range h.accesses {
				if a.log == i+1 {
					asked = a.invoke / aSecond
				}
				if a.log > i && a.outcome == history.OK {
					answered = min(answered, a.done/aSecond)
				}
			}
		}
		if asked <= s && answered > s {
			return true
		}
		recorded[slot] = answered <= s
	}
	for recorded[next] {
		next++
	}
	if next*o.plan.SlotMS/1000 > s {
		return true
	}
	return slices.ContainsFunc(o.holds, func(h *fact) bool { return h.done/aSecond <= s && o.heldUntil(h) > s && !o.gaveBack(h) })
}

// heldUntil is until which second a client can have had the lock.
func (o *oracle) heldUntil(h *fact) int64 {
	if h.outcome != history.OK && h.outcome != history.Info {
		return 0
	}
	until := int64(model.Never)
	if exit := o.exits(h.client); exit != 0 {
		until = exit / aSecond
	}
	for _, a := range h.attempts {
		if a.outcome == history.OK {
			until = min(until, a.done/aSecond)
		}
	}
	return until
}

func (o *oracle) gaveBack(h *fact) bool {
	return h.outcome == history.OK && o.heldUntil(h) != model.Never
}

func (o *oracle) anyAsksIn(s, end int64) bool {
	return slices.ContainsFunc(o.holds, func(h *fact) bool {
		return !h.try && h.invoke/aSecond <= s && (o.pendingUntil(h, end) > s || o.gaveBack(h) && o.heldUntil(h) > s)
	})
}

func TestMissedExecutionAgreesWithCountingSeconds(t *testing.T) {
	var missed atomic.Int64
	s := second{property: model.MissedExecution, oracle: (*oracle).missedExecution, checker: verdictOf(model.MissedExecution)}
	n := testkit.Histories(t, 10_000)
	testkit.InParallel(t, n, func(seed uint64) error {
		violated, err := s.judge(randomSchedule(seed), 0)
		if violated {
			missed.Add(1)
		}
		return err
	})
	share := float64(missed.Load()) / float64(n)
	t.Logf("violated in %.0f %%", 100*share)
	if n >= 1000 && (share < 0.2 || share > 0.7) {
		t.Errorf("violated in %.0f %%: one-sided", 100*share)
	}
}
