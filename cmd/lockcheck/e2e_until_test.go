//go:build e2e

package main_test

import (
	"slices"
	"strings"
	"testing"

	"lockcheck/checker/model"
)

// The load ends once what is looked for was found, and the run is as whole as any other: healed, with its final phase, and
// with a verdict that has what was found.
func TestUntilEndsTheLoad(t *testing.T) {
	t.Parallel()
	o := lockcheck(t, program, "run", "--backend=etcd", oneServer, "--provider=local", "--nemesis=pause:holder@work,2ttl", "--time-limit=60s", "--seed=7",
		"--until=mutual-exclusion,stale-write")
	completed(t, o)
	if o.code != 1 || !slices.Contains(o.violated(), model.StaleWrite) || !slices.Contains(o.violated(), model.MutualExclusion) {
		t.Errorf("exit %d, violated: %v", o.code, o.violated())
	}
	plan := planOf(t, o)
	if plan.LoadEndedNS == 0 || plan.LoadEndedNS >= plan.TimeLimitMS*1e6 {
		t.Errorf("the load of %d ms ended at %d ns", plan.TimeLimitMS, plan.LoadEndedNS)
	}
	if first := o.of(t, model.StaleWrite).Findings[0].AtNS; first > plan.LoadEndedNS {
		t.Errorf("the first finding is of %d ns, and the load was ended at %d ns for it", first, plan.LoadEndedNS)
	}
	says(t, o, `mutual-exclusion, stale-write\) was found`)
	if !strings.Contains(o.stdout, "before its 60.0 s were over, because what the run looked for was found") {
		t.Error("the summary does not say that the load ended early")
	}
}

// A run in which it is not found lasts its time, and says nothing of an early end.
func TestUntilThatIsNotFound(t *testing.T) {
	t.Parallel()
	o := lockcheck(t, program, "run", "--backend=etcd", oneServer, "--provider=local", "--nemesis=none", "--time-limit=3s", "--until=violation")
	completed(t, o)
	if plan := planOf(t, o); o.code != 0 || plan.LoadEndedNS != 0 {
		t.Errorf("exit %d, load ended at %d ns", o.code, plan.LoadEndedNS)
	}
}
