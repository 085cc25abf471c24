//go:build e2e

package main_test

import (
	"slices"
	"strings"
	"testing"

	"lockcheck/checker/model"
)

// Each planted defect turns the verdict red for its own property. (Under pauses an honest client's belief breaks too; what
// the one that swallows lost does beyond that, in a history without pauses, is TestASwallowedLoss of the checker.)
func TestPlantedDefectsAreCaught(t *testing.T) {
	t.Parallel()
	cases := []struct {
		plant    string
		args     []string // of --backend=etcd, where they name no other
		violated []model.Name
	}{
		{
			"a client that ignores the lock",
			[]string{"--client=concurrency+ignore-lock", "--workload=lock", "--nemesis=none"},
			[]model.Name{model.MutualExclusion},
		},
		{
			"a client that releases before it writes",
			[]string{"--client=concurrency+early-release", "--workload=lock", "--nemesis=none"},
			[]model.Name{model.MutualExclusion, model.StaleWrite},
		},
		{
			"a resource that ignores the token",
			[]string{"--set-resource=compare-nothing", "--workload=fencing", "--nemesis=pause", "--time-limit=10s"},
			[]model.Name{model.StaleWrite},
		},
		{
			"a compare-and-set that compares nothing",
			[]string{"--set-resource=compare-nothing", "--workload=lock", "--resource=cas", "--nemesis=pause", "--time-limit=10s"},
			[]model.Name{model.LostUpdate, model.ResourceLinearizability, model.MutualExclusion},
		},
		{
			"a client that presents a stale token",
			[]string{"--client=concurrency+stale-token", "--workload=fencing", "--nemesis=none"},
			[]model.Name{model.TokenMonotonicity},
		},
		{
			"a client that swallows lost",
			[]string{"--client=concurrency+swallow-lost", "--workload=lock", "--nemesis=pause", "--time-limit=10s"},
			[]model.Name{model.MutualExclusion, model.StaleWrite},
		},
		{
			"an elector that does not stand for election",
			[]string{"--backend=kubernetes", "--client=leaderelection+ignore-lock", "--workload=lock", "--nemesis=none"},
			[]model.Name{model.MutualExclusion},
		},
		{
			"a leader that presents a stale token",
			[]string{"--backend=kubernetes", "--client=leaderelection+stale-token", "--workload=fencing", "--nemesis=none"},
			[]model.Name{model.TokenMonotonicity},
		},
		{
			"a session of Consul that is given up before the write",
			[]string{"--backend=consul", "--client=lock+early-release", "--workload=lock", "--nemesis=none"},
			[]model.Name{model.MutualExclusion, model.StaleWrite},
		},
		{
			"a client of Consul that presents a stale token",
			[]string{"--backend=consul", "--client=lock+stale-token", "--workload=fencing", "--nemesis=none"},
			[]model.Name{model.TokenMonotonicity},
		},
		{
			"an advisory lock that is never taken",
			[]string{"--backend=postgres", "--client=advisory+ignore-lock", "--workload=lock", "--nemesis=none"},
			[]model.Name{model.MutualExclusion},
		},
		{
			"a row that is given back before the write",
			[]string{"--backend=postgres", "--client=row-lease+early-release", "--workload=lock", "--nemesis=none"},
			[]model.Name{model.MutualExclusion, model.StaleWrite},
		},
	}
	for _, c := range cases {
		t.Run(c.plant, func(t *testing.T) {
			t.Parallel()
			binary, args := planted, slices.Concat([]string{"run", "--backend=etcd", "--time-limit=5s", "--seed=5"}, c.args)
			if i := slices.Index(args, "--set-resource=compare-nothing"); i >= 0 {
				binary, args = plantedResource, slices.Delete(args, i, i+1)
			}
			o := lockcheck(t, binary, endingAt(c.violated, args...)...)
			if o.code != 1 {
				t.Errorf("exit %d, want 1", o.code)
			}
			if strings.Contains(c.plant, "swallows lost") && lossSignals(t, o) > 0 {
				t.Error("it was planted to swallow the loss signal, and the history has one")
			}
			for _, name := range c.violated {
				if p := o.of(t, name); p.Verdict != model.Violation {
					t.Errorf("%s is %s (%s), want violation", name, p.Verdict, p.Reason)
				}
			}
		})
	}
}
