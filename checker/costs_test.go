package checker

import (
	"fmt"
	"iter"
	"reflect"
	"runtime"
	"testing"
	"time"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
	"lockcheck/checker/testkit"
)

// byLine is a recording whose events come from a list; no resource handled anything.
func byLine(plan history.Plan, events []history.Event) model.Recording {
	for i := range events {
		events[i].Index = int64(i)
		if events[i].Process == "" {
			events[i].Process = events[i].Client
		}
	}
	return model.Recording{Plan: plan, Events: testkit.Rows(events), Requests: iter.Seq2[history.Request, error](testkit.Rows([]history.Request{}))}
}

func marked(events []history.Event, atNS int64) []history.Event {
	mark := func(ns int64, phase string) history.Event {
		return history.Event{TimeNS: ns, Process: history.HarnessProcess, Type: history.Info, F: history.Phase, Value: phase}
	}
	events = append([]history.Event{mark(0, history.PhaseLoad)}, events...)
	return append(events, mark(atNS, history.PhaseEnd))
}

// atOnce is a recording in which so many clients are granted one lock, and hold it at the same time.
func atOnce(clients int) model.Recording {
	var events []history.Event
	name := func(i int) string { return fmt.Sprint("c", i) }
	for i := range clients {
		at := int64(i+1) * 1000
		hold := fmt.Sprint("h", i)
		events = append(events,
			history.Event{TimeNS: at, Client: name(i), Type: history.Invoke, F: history.Acquire, Op: int64(i + 1), Hold: hold, Key: "k"},
			history.Event{TimeNS: at + 1, Client: name(i), Type: history.OK, F: history.Acquire, Op: int64(i + 1), Hold: hold, Key: "k"})
	}
	for i := range clients {
		events = append(events, history.Event{TimeNS: 1e9 + int64(i), Client: name(i), Type: history.Info, F: history.Lost, Hold: fmt.Sprint("h", i), Key: "k", HeldNS: 1e9 - 1})
	}
	plan := plainPlan()
	plan.Tokens = history.TokensNone
	return byLine(plan, marked(events, 2e9))
}

// sessionEach is a recording in which each grant, of a lock of its own, is under a session of its own.
func sessionEach(keys int) model.Recording {
	var events []history.Event
	for i := range keys {
		at := int64(i+1) * 1000
		hold, key, session := fmt.Sprint("h", i), fmt.Sprint("k", i), fmt.Sprint("s", i)
		event := func(ns int64, kind history.Type, f history.F) history.Event {
			return history.Event{TimeNS: ns, Client: "c1", Type: kind, F: f, Op: int64(i + 1), Hold: hold, Key: key}
		}
		granted := event(at+1, history.OK, history.Acquire)
		granted.Session = session
		events = append(events, event(at, history.Invoke, history.Acquire), granted)
	}
	plan := plainPlan()
	plan.Tokens, plan.Keys = history.TokensNone, keys
	return byLine(plan, marked(events, 2e9))
}

// What judging costs grows with the history: eight times the size takes about eight times of it, where a loop within a loop takes 64. The
// least of some tries is taken, as what else the machine does can only add to it.
func TestCostsGrowWithTheHistory(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes some seconds")
	}
	const times = 8
	for name, test := range map[string]struct {
		of       func(int) model.Recording
		size     int
		property model.Name
	}{
		"all hold one lock at once": {atOnce, 300, model.MutualExclusion},
		"a session for each grant":  {sessionEach, 2_000, model.Liveness},
	} {
		t.Run(name, func(t *testing.T) {
			cost := func(size int) (least time.Duration, bytes uint64) {
				m, c, err := model.Build(test.of(size), "")
				if err != nil {
					t.Fatal(err)
				}
				for range 5 {
					runtime.GC()
					began := cpuTime()
					bytes = allocated(func() {
						judgedOf(t, m, c, Options{Properties: []model.Name{test.property}, Unconfirmed: true, MaxFindings: DefaultMaxFindings})
					})
					if took := cpuTime() - began; least == 0 || took < least {
						least = took
					}
				}
				return least, bytes
			}
			once, onceBytes := cost(test.size)
			more, moreBytes := cost(times * test.size)
			time, memory := float64(more)/float64(once), float64(moreBytes)/float64(onceBytes)
			t.Logf("%d: %v, %d bytes; %d times as many: %.1f times the time, %.1f times the memory", test.size, once, onceBytes, times, time, memory)
			if time > 3*times || memory > 1.5*times {
				t.Errorf("it does not grow as the history does")
			}
		})
	}
}

// judgedOf judges one property alone.
func judgedOf(t *testing.T, m *model.Model, _ *model.Counts, opts Options) model.Property {
	j := newJudgement(m.Afresh(), opts, nil)
	for _, p := range properties {
		if p.Name == opts.Properties[0] {
			return j.property(p, j.outcome(p.Name))
		}
	}
	t.Fatalf("no property %s", opts.Properties[0])
	return model.Property{}
}

func TestAllPairsAreCountedAndTheFirstKept(t *testing.T) {
	result, _, err := Check(atOnce(300), Options{Properties: []model.Name{model.MutualExclusion}})
	if err != nil {
		t.Fatal(err)
	}
	p := propertyOf(result, model.MutualExclusion)
	if p.Count != 300*299/2 || p.Incidents != 299 || len(p.Findings) != DefaultMaxFindings {
		t.Errorf("%d pairs in %d incidents, %d shown", p.Count, p.Incidents, len(p.Findings))
	}
	// What is kept is what would be kept if all were.
	for seed := range uint64(2000) {
		s := testkit.RandomHistory(seed, testkit.Taste{Wild: 1, Held: 1, Promises: 0.3, Linger: 0.7, Session: seed%2 == 0})
		m, c, err := model.Build(scribedRecording(s), "")
		if err != nil {
			t.Fatal(err)
		}
		few := Options{Properties: []model.Name{model.MutualExclusion}, MaxFindings: 2}
		some, all := judgedOf(t, m, c, few), judgedOf(t, m, c, Options{Properties: few.Properties})
		if some.Count != all.Count || some.Incidents != all.Incidents {
			t.Fatalf("seed %d: %d pairs in %d incidents, want %d in %d", seed, some.Count, some.Incidents, all.Count, all.Incidents)
		}
		whole := judgedOf(t, m, c, Options{Properties: few.Properties, MaxFindings: 1000})
		if n := len(some.Findings); !reflect.DeepEqual(some.Findings, whole.Findings[:n]) || n != min(2, len(whole.Findings)) {
			t.Fatalf("seed %d: kept\n%+v\nof\n%+v", seed, some.Findings, whole.Findings)
		}
	}
}
