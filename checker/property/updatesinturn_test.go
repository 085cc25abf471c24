package property

import (
	"fmt"
	"iter"
	"slices"
	"sync/atomic"
	"testing"

	"lockcheck/checker/history"
	"lockcheck/checker/internal/simulated"
	"lockcheck/checker/model"
	"lockcheck/checker/testkit"
)

// Where the updates of a key are said to follow one another, they are the one chain that registerOrder finds, without a
// conflict, and in its order.
func TestUpdatesInTurnAreTheOnlyChain(t *testing.T) {
	var inTurn, not atomic.Int64
	testkit.InParallel(t, testkit.Histories(t, 5000), func(seed uint64) error {
		h := testkit.RandomHistory(seed, testkit.Taste{Wild: 0.3, Held: 1, Accesses: 0.9, Late: 0.1})
		m, _, err := model.Build(model.Recording{Plan: h.Plan, Events: testkit.Rows(h.Events), Requests: testkit.Rows(h.Requests)}, history.Fail)
		if err != nil {
			return err
		}
		return eachKeyInTurn(m, &inTurn, &not)
	})
	testkit.InParallel(t, testkit.Histories(t, 100), func(seed uint64) error {
		run := simulated.Simulate(testkit.AnyWorld(seed))
		m, _, err := model.Build(model.Recording{Plan: run.Plan, Events: testkit.Rows(run.Events), Requests: testkit.Rows(run.Requests)}, history.Fail)
		if err != nil {
			return err
		}
		return eachKeyInTurn(m, &inTurn, &not)
	})
	if yes, no := inTurn.Load(), not.Load(); min(yes, no) < (yes+no)/10 {
		t.Errorf("one-sided: %d in turn, %d not", yes, no)
	}
}

func eachKeyInTurn(m *model.Model, inTurn, not *atomic.Int64) error {
	for _, k := range m.Locks {
		if !eachInTurn(k, func(update) bool { return true }) {
			not.Add(1)
			continue
		}
		inTurn.Add(1)
		updates, values := updatesOf(k)
		conflicts, chains := orderUpdates(updates, values)
		if len(conflicts) > 0 || len(chains) != 1 {
			return fmt.Errorf("in turn, and yet %d chains, %+v:%s", len(chains), conflicts, spell(updates))
		}
		if got, want := steps(updatesInTurn(k)), steps(chains[0].inOrder()); !slices.Equal(got, want) {
			return fmt.Errorf("%v, want %v:%s", got, want, spell(updates))
		}
	}
	return nil
}

// steps names updates; of those that only look, at one value and called at one moment, any may come first.
func steps(updates iter.Seq[*update]) (all []string) {
	for u := range updates {
		if u.writes() {
			all = append(all, u.leaves())
		} else {
			all = append(all, fmt.Sprint("look at ", u.call))
		}
	}
	return all
}
