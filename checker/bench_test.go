package checker

import (
	"fmt"
	"testing"

	"lockcheck/checker/history"
)

// manyHolds is a long calm history of one lock: n holds one after the other by 5 clients, each reading and writing, with
// a lease report every tenth hold and another client always waiting.
func manyHolds(n int) (events []history.Event, requests []history.Request) {
	add := func(e history.Event) {
		e.Index = int64(len(events))
		events = append(events, e)
	}
	add(history.Event{Process: "harness", Type: history.Info, F: history.Phase, Value: history.PhaseLoad})
	now, op, value := int64(0), int64(0), ""
	yes := true
	invoked := int64(0)
	for i := range n {
		c := fmt.Sprint("c", i%5)
		next := fmt.Sprint("c", (i+1)%5)
		session := "s" + c
		e := func(kind history.Type, f history.F, op int64) history.Event {
			return history.Event{TimeNS: now, Process: c, Client: c, Type: kind, F: f, Op: op, Hold: fmt.Sprint("h", i), Key: "k"}
		}
		tick := func() { now += 100_000 }
		if i%10 == 0 {
			l := e(history.OK, history.Renew, 0)
			l.Hold, l.Key, l.Session, l.TTLNS, l.SeenNS = "", "", session, 2e9, now
			add(l)
		}
		if i == 0 {
			op++
			invoked = op
			add(e(history.Invoke, history.Acquire, op))
		}
		tick()
		ok := e(history.OK, history.Acquire, invoked)
		ok.Token, ok.Session = fmt.Sprint(100+i), session
		add(ok)
		op++
		invoked = op
		wait := e(history.Invoke, history.Acquire, op)
		wait.Process, wait.Client, wait.Hold = next, next, fmt.Sprint("h", i+1)
		add(wait)
		tick()
		op++
		add(e(history.Invoke, history.Read, op))
		requests = append(requests, history.Request{Seq: int64(len(requests) + 1), Request: fmt.Sprint(op), Key: "k", Kind: history.KindRead, Hold: fmt.Sprint("h", i), Value: value, Outcome: history.Applied, TimeNS: now})
		tick()
		r := e(history.OK, history.Read, op)
		r.Value, r.HeldNS = value, now-50_000
		add(r)
		op++
		w := e(history.Invoke, history.Write, op)
		w.Base, w.Value = value, fmt.Sprint("v", op)
		value = w.Value
		add(w)
		requests = append(requests, history.Request{Seq: int64(len(requests) + 1), Request: fmt.Sprint(op), Key: "k", Kind: history.KindWrite, Hold: fmt.Sprint("h", i), Value: value, Base: w.Base, Outcome: history.Applied, TimeNS: now})
		tick()
		d := e(history.OK, history.Write, op)
		d.HeldNS = now - 50_000
		add(d)
		op++
		add(e(history.Invoke, history.Release, op))
		tick()
		rel := e(history.OK, history.Release, op)
		rel.Owned = &yes
		add(rel)
	}
	add(history.Event{TimeNS: now, Process: "harness", Type: history.Info, F: history.Phase, Value: history.PhaseEnd})
	return events, requests
}

func TestALongHistoryIsJudgedInWindows(t *testing.T) {
	rec := recordingOf(t, plainPlan(), func() ([]history.Event, []history.Request) { return manyHolds(5000) })
	result, _, err := Check(rec, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []Name{LockLinearizability, ResourceLinearizability} {
		if p := result.of(name); p.Verdict != Pass || p.ConfirmedBy != "porcupine" {
			t.Errorf("%+v", p)
		}
	}
	if v := result.violated(); v != "" {
		t.Errorf("violated: %s", v)
	}
}

func BenchmarkCheck(b *testing.B) {
	for _, n := range []int{1000, 10_000, 100_000} {
		b.Run(fmt.Sprint(n, " holds"), func(b *testing.B) {
			events, requests := manyHolds(n)
			b.ReportAllocs()
			for b.Loop() {
				_, _, err := Check(Recording{Plan: plainPlan(), Events: all(events), Requests: all(requests)}, Options{})
				if err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(len(events))*float64(b.N)/b.Elapsed().Seconds(), "events/s")
		})
	}
}

func all[T any](list []T) func(func(T, error) bool) {
	return func(yield func(T, error) bool) {
		for _, x := range list {
			if !yield(x, nil) {
				return
			}
		}
	}
}
