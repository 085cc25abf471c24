package checker

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"lockcheck/checker/history"
	"lockcheck/checker/internal/simulated"
	"lockcheck/checker/model"
	"lockcheck/checker/testkit"
)

// lossyWorld draws a world whose server loses locks: its clock jumps, it forgets, a replica that lags takes its place.
// Its clients compare before they delete.
func lossyWorld(seed uint64) simulated.Options {
	r := rand.New(rand.NewPCG(seed, 2))
	some := func() bool { return r.IntN(2) == 0 }
	o := simulated.Options{Seed: seed, Service: simulated.Polling, Tokens: some(), Guard: simulated.Guard(r.IntN(3)), Clients: 2 + r.IntN(4),
		Keys: 1 + r.IntN(2), LoadNS: 3e9 + r.Int64N(7e9), Undeclared: some(),
		Faults: simulated.Faults{Pause: some(), Cut: some(), Kill: some(), Stall: some(), Slow: some(), Cancel: some(), GiveUp: some()},
		Losses: simulated.Losses{Jump: some(), Amnesia: some(), Failover: some()}}
	if o.Losses == (simulated.Losses{}) {
		o.Losses.Jump = true
	}
	o.Fenced = o.Tokens && some()
	return o
}

// Where a service loses locks under clients that compare before they delete, no release is ever to blame, not even one that was
// pending at the time. Every lost grant that the rules can see is found, and none besides.
func TestLocksThatTheServiceLosesAreNotBlamedOnReleases(t *testing.T) {
	var seen testkit.Tally
	n := testkit.Histories(t, 300)
	testkit.InParallel(t, n, func(seed uint64) error {
		o := lossyWorld(seed)
		run := simulated.Simulate(o)
		_, m, err := Check(recordingOf(t, run.Plan, func() ([]history.Event, []history.Request) { return run.Events, run.Requests }),
			Options{Properties: []model.Name{model.EarlyExpiry, model.ReleaseByOwner}})
		if err != nil {
			return fmt.Errorf("%+v: %w", o, err)
		}
		found := map[string]bool{}
		for _, p := range m.EarlyLosses().Found {
			if p.Removed != nil {
				return fmt.Errorf("%+v: the release of %s is blamed for the loss of %s", o, p.Removed.Hold.ID, p.Hold.ID)
			}
			if run.Truth.Holds[p.Hold.ID].LostNS == 0 {
				return fmt.Errorf("%+v: %s was never lost: %s", o, p.Hold.ID, history.Moment(p.AtNS))
			}
			found[p.Hold.ID+" "+string(model.EarlyExpiry)] = true
		}
		if want := newOracle(run.Plan, run.Events, run.Requests).premature(); sorted(want) != sorted(found) {
			return fmt.Errorf("%+v: the rules see %q, the checker %q", o, sorted(want), sorted(found))
		}
		seen.Add("found", int64(len(found)))
		for _, h := range run.Truth.Holds {
			if h.LostNS != 0 {
				seen.Add("lost", 1)
			}
		}
		return nil
	})
	t.Logf("%d grants were lost, %d of them where the rules can see it", seen.N["lost"], seen.N["found"])
	if n >= 200 && seen.N["found"] < int64(n)/4 {
		t.Errorf("only %d losses found in %d worlds: they were too tame to prove anything", seen.N["found"], n)
	}
}
