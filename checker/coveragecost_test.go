package checker

import (
	"bytes"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"lockcheck/checker/coverage"
	"lockcheck/checker/history"
	"lockcheck/checker/longrun"
	"lockcheck/checker/model"
	"lockcheck/checker/testkit"
)

// BenchmarkCoverage times coverage and margins beside Check of the same files, and reports the share. The goal is 10 %.
func BenchmarkCoverage(b *testing.B) {
	for name, o := range map[string]longrun.Options{"1e4": {Operations: 10_000}, "1e5": {Operations: 100_000}, "1e5 unknown 5%": {Operations: 100_000, Unknown: 0.05}} {
		b.Run(name, func(b *testing.B) {
			events, requests := filesOf(b, o)
			var judging, covering spent
			for b.Loop() {
				var m *model.Model
				judging.take(func() {
					var err error
					if _, m, err = Check(model.Recording{Plan: o.Plan(), Events: history.Events(bytes.NewReader(events), "h"), Requests: history.Requests(bytes.NewReader(requests), "r")}, Options{MaxFindings: DefaultMaxFindings}); err != nil {
						b.Fatal(err)
					}
				})
				covering.take(func() { covered(m) })
			}
			b.ReportMetric(100*covering.cpu.Seconds()/judging.cpu.Seconds(), "%-of-judging")
			b.ReportMetric(float64(covering.cpu.Nanoseconds())/float64(o.Operations), "ns/operation")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// filesOf are the files that such a run records.
func filesOf(b *testing.B, o longrun.Options) (events, requests []byte) {
	for e, err := range o.Events() {
		if err != nil {
			b.Fatal(err)
		}
		events = append(history.AppendEvent(events, &e), '\n')
	}
	for r, err := range o.Requests() {
		if err != nil {
			b.Fatal(err)
		}
		requests = append(history.AppendRequest(requests, &r), '\n')
	}
	return events, requests
}

func covered(m *model.Model) (coverage.Coverage, []coverage.Margin) {
	return coverage.Of(m), coverage.Margins(m)
}

// FuzzCoverage: whatever happens in a history, its coverage is the same each time, counts are positive, changes are changes, and no margin is
// of holds of one client, or of two locks.
func FuzzCoverage(f *testing.F) {
	for i := range seconds {
		f.Add(byte(i), []byte{})
		f.Add(byte(i), []byte("the quick brown fox jumps over the lazy dog"))
	}
	f.Fuzz(func(t *testing.T, which byte, chosen []byte) {
		s := seconds[int(which)%len(seconds)]
		h := testkit.HistoryFrom(&choices{chosen, rand.NewPCG(1, 2)}, s.taste)
		build := func() *model.Model {
			m, _, err := model.Build(model.Recording{Plan: h.Plan, Events: testkit.Rows(h.Events), Requests: testkit.Rows(h.Requests)}, "")
			if err != nil {
				t.Fatal(err)
			}
			return m
		}
		c, margins := covered(build())
		again, marginsAgain := covered(build())
		if !maps.Equal(c.Transitions, again.Transitions) || !maps.Equal(c.Orders, again.Orders) || len(margins) != len(marginsAgain) {
			t.Fatal("the same history has another coverage")
		}
		for transition, n := range c.Transitions {
			if n < 1 || transition.From == transition.To {
				t.Errorf("%s came %d times", transition, n)
			}
		}
		if slices.Contains(slices.Collect(maps.Values(c.Orders)), 0) {
			t.Error("an order that never came")
		}
		for i, m := range margins {
			if m.Older.Client == m.Newer.Client || m.Older.Key != m.Key || m.Newer.Key != m.Key || m.By != marginsAgain[i].By {
				t.Errorf("%+v", m)
			}
		}
	})
}
