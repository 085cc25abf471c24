package property

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/anishathalye/porcupine"

	"lockcheck/checker/internal/search"
	"lockcheck/checker/model"
	"lockcheck/checker/testkit"
)

// The exact algorithms against Porcupine, on many small random histories: small numbers, so that ends often touch.

func randomTenures(r *rand.Rand) []tenure {
	tenures := make([]tenure, 1+r.IntN(6))
	for i := range tenures {
		s := tenure{hold: &model.Hold{ID: fmt.Sprint("h", i), Client: fmt.Sprint("c", i)}, by: model.Never}
		s.lo = r.Int64N(20)
		s.hi = s.lo + r.Int64N(8)
		if r.IntN(3) > 0 {
			s.from = s.hi + r.Int64N(7) - 2
		}
		if r.IntN(3) == 0 {
			s.by = s.lo + r.Int64N(16) - 2
		}
		tenures[i] = s
	}
	return tenures
}

// randomHistories is the whole number that the exact algorithms are held against Porcupine on.
const randomHistories = 30_000

func TestLockOrderAgreesWithPorcupine(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	seen := map[bool]int{}
	whole := testkit.Histories(t, randomHistories)
	for n := range whole {
		tenures := randomTenures(r)
		inOrder := inTurn(slices.Values(tenures))
		conflicts := lockOrder(inOrder)
		legally := porcupine.CheckOperations(lockModel, lockOps(tenures, 0, search.OpenEnd))
		seen[legally]++
		if legally != (len(conflicts) == 0) {
			t.Fatalf("history %d: Porcupine says %v, conflicts %+v: %+v", n, legally, conflicts, tenures)
		}
		for _, c := range conflicts {
			if err := confirmConflict("k", c); err != nil {
				t.Fatalf("history %d: %v: %+v", n, err, tenures)
			}
		}
		for size := 1; legally && size <= 3; size++ {
			if searchWindows(inOrder, size) != search.Legal {
				t.Fatalf("history %d: legal as a whole, not in windows of %d: %+v", n, size, tenures)
			}
		}
	}
	if min(seen[true], seen[false]) < whole/20 {
		t.Errorf("one-sided: %v", seen)
	}
}

// An optional grant never turns an illegal history legal, so confirming a conflict without it is enough.
func TestAcquiresOfUnknownOutcomeExplainNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for n := range testkit.Histories(t, randomHistories/3) {
		tenures := randomTenures(r)
		without := lockOps(tenures, 0, search.OpenEnd)
		with := without
		for i := range 1 + r.IntN(2) {
			at := r.Int64N(20)
			for _, step := range []lockStep{stepMaybe, stepLeave} {
				with = append(with, porcupine.Operation{ClientId: 100 + 2*i + int(step), Input: lockInput{step, 100 + i, nil}, Call: at, Return: search.OpenEnd})
			}
		}
		if a, b := porcupine.CheckOperations(lockModel, without), porcupine.CheckOperations(lockModel, with); a != b {
			t.Fatalf("history %d: %v without, %v with optional acquires: %+v", n, a, b, tenures)
		}
	}
}

func randomUpdates(r *rand.Rand) []update {
	updates := make([]update, 1+r.IntN(6))
	values := []string{""}
	for i := range updates {
		values = append(values, fmt.Sprint("v", i))
	}
	// Most find what the one before them left, so that long chains are met; some anything.
	order := r.Perm(len(updates))
	now := int64(0)
	for n, i := range order {
		u := update{hold: &model.Hold{ID: fmt.Sprint("h", i), Client: fmt.Sprint("c", i)}}
		now += r.Int64N(3)
		u.call = max(0, now-r.Int64N(4))
		u.ret = u.call + r.Int64N(6)
		if r.IntN(8) == 0 {
			u.ret = model.Never
		}
		looks, writes := r.IntN(6) > 0, r.IntN(4) > 0
		if looks || !writes {
			u.read = &model.Access{}
			for _, before := range order[:n] {
				if updates[before].writes() {
					u.read.Value = updates[before].leaves()
				}
			}
			if r.IntN(5) == 0 {
				u.read.Value = values[r.IntN(len(values))]
			}
		}
		if writes {
			u.wrote = &model.Access{Value: values[1+i]}
		}
		updates[i] = u
	}
	return updates
}

func TestRegisterOrderAgreesWithPorcupine(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	seen := map[bool]int{}
	whole := testkit.Histories(t, randomHistories)
	for n := range whole {
		updates := randomUpdates(r)
		all := make([]*update, len(updates))
		for i := range updates {
			all[i] = &updates[i]
		}
		conflicts, chains := registerOrder(updates)
		legally := porcupine.CheckOperations(registerModel(""), registerOps(all, search.OpenEnd))
		seen[legally]++
		if legally != (len(conflicts) == 0) {
			t.Fatalf("history %d: Porcupine says %v, conflicts %+v:%s", n, legally, conflicts, spell(updates))
		}
		for _, c := range conflicts {
			if search.Ask(registerModel(c.before), registerOps(c.updates, search.OpenEnd)) != search.Illegal {
				t.Fatalf("history %d: the witness %q from %q is legal:%s", n, c.text, c.before, spell(updates))
			}
		}
		if legally && len(chains) == 1 && searchForced(chains[0].inOrder(), 1+r.IntN(3)) != search.Legal {
			t.Fatalf("history %d: legal as a whole, not as a chain:%s", n, spell(updates))
		}
	}
	if min(seen[true], seen[false]) < whole/20 {
		t.Errorf("one-sided: %v", seen)
	}
}

func spell(updates []update) (text string) {
	for _, u := range updates {
		text += fmt.Sprintf("\n%s [%d,%d] looks=%v %q writes=%v %q", u.hold.ID, u.call, u.ret, u.looks(), u.finds(), u.writes(), u.leaves())
	}
	return text
}

func TestSearchGivesUpByCounting(t *testing.T) {
	// All pending at once, nothing fits: far more orders than steps.
	var ops []porcupine.Operation
	for i := range 40 {
		for _, step := range []lockStep{stepMaybe, stepLeave} {
			ops = append(ops, porcupine.Operation{ClientId: i, Input: lockInput{step, i + 1, nil}, Call: 0, Return: search.OpenEnd})
		}
	}
	ops = append(ops, porcupine.Operation{Input: lockInput{stepStill, 99, nil}, Call: 1, Return: 2})
	if got := search.Ask(lockModel, ops); got != search.Undecided {
		t.Errorf("got %v", got)
	}
}
