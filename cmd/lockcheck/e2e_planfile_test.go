//go:build e2e

package main_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lockcheck/checker/history"
)

// A plan that was printed, with its schedule edited to one pause of another client at another moment: that is all that happens, in the run
// and in its replay.
func TestAPlanFileIsWhatHappens(t *testing.T) {
	t.Parallel()
	out, err := exec.Command(program, "plan", "--backend=etcd", oneServer, "--provider=local", "--nemesis=pause", "--time-limit=6s", "--seed=5", "--json",
		"--work=20ms..120ms").Output() // a client that gives up and cannot say what came of it would have a successor in its place
	if err != nil {
		t.Fatal(err)
	}
	var plan history.Plan
	if err := json.Unmarshal(out, &plan); err != nil {
		t.Fatal(err)
	}
	if len(plan.Schedule) == 0 || len(plan.Schedule) != len(plan.Steps) || plan.Schedule[0].Steps[0].Target == "client(2)" {
		t.Fatalf("the plan has the schedule %+v of %q", plan.Schedule, plan.Steps)
	}
	step := plan.Schedule[0].Steps[0]
	step.Target, step.Trigger, step.IntoWork, step.For = "client(2)", "acquire", 0, "0.5ttl"
	plan.Schedule = []history.Round{{After: "1s", Steps: []history.Step{step}}}
	text, err := json.Marshal(plan)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "edited.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	o := lockcheck(t, program, "run", "--plan="+file, "--provider=local")
	onlyThePause(t, o)
	if !strings.Contains(o.stdout, "under the plan in") || !strings.Contains(o.stdout, "lockcheck run --plan=") {
		t.Errorf("the terminal does not name the plan file:\n%s", o.stdout)
	}
	again := lockcheck(t, program, "run", "--replay="+o.run())
	onlyThePause(t, again)
	if a, b := planOf(t, o), planOf(t, again); !slices.Equal(a.Steps, b.Steps) || a.PlanFile != file || b.PlanFile != file {
		t.Errorf("replayed %q of %s as %q of %s", a.Steps, a.PlanFile, b.Steps, b.PlanFile)
	}
}

func onlyThePause(t *testing.T, o outcome) {
	t.Helper()
	completed(t, o)
	all := faults(t, o)
	if len(all) != 1 {
		t.Errorf("%d faults, want 1", len(all))
	}
	for _, f := range all {
		if e := f.invoked; e.F != "pause" || e.Role != "client(2)" || e.Target != "c2" || e.Hold == "" || e.DurNS != 1e9 || f.ended.Type != history.OK {
			t.Errorf("the fault is %+v, and became %s", e, f.ended.Type)
		}
	}
}
