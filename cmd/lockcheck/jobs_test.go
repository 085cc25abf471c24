package main

import (
	"strings"
	"testing"
)

// What only workload jobs understands is in its plan, is repeated in the command that makes the run again, and is left out of the runs
// of other workloads of a comparison.
func TestAScheduleIsOfJobsAlone(t *testing.T) {
	got := lockcheck(t, "plan", "--backend=etcd", "--seed=7", "--workload=jobs", "--slot=200ms", "--execution=at-most-once", "--json")
	for _, want := range []string{`"slot_ms": 200`, `"execution": "at-most-once"`, `"--slot=200ms"`, `"--execution=at-most-once"`, `"clients-that-recorded"`, `"recorded-slots"`} {
		if !strings.Contains(got.stdout, want) {
			t.Errorf("the plan lacks %s:\n%s%s", want, got.stdout, got.stderr)
		}
	}
	if got := lockcheck(t, "plan", "--backend=etcd", "--seed=7", "--json"); strings.Contains(got.stdout, "slot") || strings.Contains(got.stdout, "execution") {
		t.Errorf("a plan without jobs:\n%s", got.stdout)
	}
	got = lockcheck(t, "compare", "--backends=etcd", "--nemeses=none", "--workloads=lock,jobs", "--slot=200ms", "--seed=7", "--list")
	jobs, others := 0, 0
	for _, line := range strings.Split(got.stdout, "\n") {
		switch slot := strings.Contains(line, "--slot=200ms"); {
		case slot && strings.Contains(line, "--workload=jobs"):
			jobs++
		case slot && strings.Contains(line, "--workload="):
			others++
		}
	}
	if jobs != 1 || others != 0 {
		t.Errorf("%d cells of jobs and %d others have the slot:\n%s%s", jobs, others, got.stdout, got.stderr)
	}
	if got := lockcheck(t, "list"); !strings.Contains(got.stdout, "\n--execution: of workload jobs\n  at-least-once") || !strings.Contains(got.stdout, "jobs ") {
		t.Errorf("not listed:\n%s", got.stdout)
	}
}
