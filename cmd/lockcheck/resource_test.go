package main

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"lockcheck/checker/history"
)

// What is not named is what the workload implied before resources could be named; both go into the plan, and only what was named
// into the command that makes the run again.
func TestThePlanNamesItsResource(t *testing.T) {
	for _, test := range []struct {
		flags  string
		want   history.Resource
		fenced bool
		line   string
	}{
		{"--workload=lock", history.ResourcePlain, false, "plain: accepts every write"},
		{"--workload=fencing", history.ResourceFenced, true, "fenced: rejects a request whose token"},
		{"--workload=lock --resource=fenced", history.ResourceFenced, false, "fenced: workload lock sends it no tokens, so it accepts every write"},
		{"--workload=lock --resource=cas", history.ResourceCAS, false, "cas: rejects a write unless"},
		{"--workload=fencing --resource=plain", history.ResourcePlain, false, "plain: accepts every write"},
		{"--workload=fencing --resource=cas", history.ResourceCAS, false, "cas: rejects a write unless"},
		{"--workload=jobs", history.ResourcePlain, false, "plain: accepts every write\njobs      a slot every 500 ms, at-least-once: clients record a slot after its work\n"},
		{"--workload=jobs --resource=fenced --slot=2s", history.ResourceFenced, true, "fenced: rejects a request whose token is lower than the highest it has served on the key\njobs      a slot every 2000 ms"},
		{"--workload=jobs --execution=idempotent", history.ResourcePlain, false, "plain: accepts every write; answers a second record of a slot as the first, and does nothing\n"},
		{"--workload=jobs --execution=idempotent --resource=postgres", "postgres", false, "postgres: under test; what it compares it says when it is started; it has to take idempotency keys\n"},
		{"--workload=fencing --resource=fenced", history.ResourceFenced, true, "fenced: rejects a request whose token"},
	} {
		args := append([]string{"plan", "--backend=etcd", "--seed=7"}, strings.Fields(test.flags)...)
		got := lockcheck(t, append(args, "--json")...)
		var plan history.Plan
		if err := json.Unmarshal([]byte(got.stdout), &plan); err != nil {
			t.Fatalf("%s: %v\n%s%s", test.flags, err, got.stdout, got.stderr)
		}
		if plan.Resource != test.want || plan.Fenced != test.fenced {
			t.Errorf("%s: resource %s, fenced %v", test.flags, plan.Resource, plan.Fenced)
		}
		named := slices.ContainsFunc(plan.Command, func(word string) bool { return strings.HasPrefix(word, "--resource=") })
		if named != strings.Contains(test.flags, "--resource=") || named && !slices.Contains(plan.Command, "--resource="+string(test.want)) {
			t.Errorf("%s: made again by %q", test.flags, plan.Command)
		}
		if got := lockcheck(t, args...); !strings.Contains(got.stdout, "\nresource  "+test.line) {
			t.Errorf("%s: it does not say %q:\n%s", test.flags, test.line, got.stdout)
		}
	}
	if got := lockcheck(t, "list"); !strings.Contains(got.stdout, "\n--resource\n  plain") {
		t.Errorf("not listed:\n%s", got.stdout)
	}
}
