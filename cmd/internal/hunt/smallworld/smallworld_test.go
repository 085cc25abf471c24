package smallworld

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strconv"
	"testing"

	"lockcheck/checker"
	"lockcheck/checker/history"
	"lockcheck/checker/model"
)

func rows[T any](all []T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for _, one := range all {
			if !yield(one, nil) {
				return
			}
		}
	}
}

// brokenPromises are the violations of what a lock service and its client promise.
func brokenPromises(t testing.TB, run *Run) (all []string) {
	t.Helper()
	rec := model.Recording{Plan: run.Plan, Events: rows(run.Events), Requests: rows(run.Requests)}
	result, _, err := checker.Check(rec, checker.Options{MaxFindings: 1, Unconfirmed: true})
	if err != nil {
		t.Fatalf("%s with seed %d: %v", run.Plan.Nemesis, run.Plan.Seed, err)
	}
	for _, p := range result.Properties {
		ofLock := slices.ContainsFunc(checker.Properties(), func(d checker.Description) bool { return d.Name == p.Name && d.Layer == model.LayerService })
		if ofLock && p.Verdict == model.Violation {
			all = append(all, fmt.Sprintf("%s: %s", p.Name, p.Findings[0].Summary))
		}
	}
	return all
}

// Locks without a defect keep their promises under all that is drawn, and under the default mixes. LOCKCHECK_HISTORIES is how many runs each makes.
func TestControlsAreNotAccused(t *testing.T) {
	runs := 25
	if n, err := strconv.Atoi(os.Getenv("LOCKCHECK_HISTORIES")); err == nil {
		runs = n
	}
	for _, l := range Controls() {
		menu, mixes := Menu(l), Mixes(l)
		for seed := range int64(runs) {
			spec := menu.Draw(rand.New(rand.NewPCG(uint64(seed), 4))).String()
			if seed%3 == 0 {
				spec = mixes[int(seed/3)%len(mixes)]
			}
			run, err := Play(l, spec, seed)
			if err != nil {
				t.Fatal(err)
			}
			if all := brokenPromises(t, run); len(all) > 0 {
				t.Errorf("%s under %s with seed %d: %v", l.Name, spec, seed, all)
			}
		}
	}
}

func TestOneSeedIsOneRun(t *testing.T) {
	for _, l := range []Lock{Controls()[0], Controls()[3]} {
		spec := Menu(l).Draw(rand.New(rand.NewPCG(5, 5))).String()
		one, err := Play(l, spec, 7)
		if err != nil {
			t.Fatal(err)
		}
		if other, _ := Play(l, spec, 7); !reflect.DeepEqual(one, other) {
			t.Errorf("%s under %s: two runs of one seed differ", l.Name, spec)
		}
	}
}

// Whatever the menu draws is executed: each kind of fault is seen to work.
func TestEachKindIsExecuted(t *testing.T) {
	took := map[history.F]bool{}
	for seed, spec := range []string{"pause:leader", "partition:follower", "kill:one", "clock:one+1ttl", "failover@acquire", "loss:holder,30%", "restart:all,rolling",
		"delay:leader,0.2ttl", "power:leader", "kill:client@release"} {
		run, err := Play(Controls()[0], spec, int64(seed))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range run.Events {
			if e.Process == history.NemesisProcess && e.Type == history.OK && !e.Heal {
				took[e.F] = true
			}
		}
	}
	for _, kind := range Faults {
		if !took[kind] {
			t.Errorf("%s is never seen to work", kind)
		}
	}
}
