package checker

import (
	"strings"
	"testing"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
)

// A token that went back after its hold was released is explained by a server that lost what it had not synced between the two grants, and
// by no other fault of that time, which the first hold had outlived.
func TestTheCauseOfAForgottenToken(t *testing.T) {
	const twice = `
		1.00 a acquire h1
		1.10 a acquire:ok h1 token=7 session=sa
		1.40 a.2 release h1
		1.50 a.2 release:ok h1 owned=true
		2.90 b acquire h2
		3.00 b acquire:ok h2 token=7 session=sb`
	cut := func(n, target, from, to, more string) string { return fault(n, "power", target, from, to, more) }
	for name, test := range map[string]struct{ text, kind, says string }{
		"a power cut between": {twice + cut("1", "n1", "2.00", "2.10", "role=one"), "power cut of one",
			"between the two grants came a power cut of n1 (one)"},
		"a kill between, which forgets nothing": {twice + fault("1", "kill", "n1", "2.00", "2.10", "role=one"), "unexplained", model.NoFault},
		"a power cut that was seen to work only after the second": {twice + `
		2.95 nemesis power:invoke 1 target=n1 role=one
		3.05 nemesis power:ok 1 target=n1 role=one
		3.20 nemesis power:heal 1 target=n1 role=one
		3.20 nemesis power:healed 1 target=n1 role=one`, "power cut of one",
			"the second grant coincides with a power cut of n1 (one)"},
		"a power cut after both": {twice + cut("1", "n1", "3.10", "3.20", "role=one"), "unexplained", model.NoFault},
		"a power cut of the leader, and another": {"0.1 harness leader n2\n" + twice + cut("1", "n2", "2.00", "2.10", "role=all") + cut("2", "n1", "2.20", "2.30", "role=all"), "power cut of all",
			"between the two grants came a power cut of n2 (all, which led), and 1 more"},
		"a power cut of a server that had synced all": {twice + cut("1", "n1", "2.00", "2.10", "role=one detail="+strings.ReplaceAll(history.NothingLost, " ", "_")), "unexplained", model.NoFault},
		"the power cut between, not one shortly before the first": {twice + cut("1", "n1", "0.80", "0.90", "role=one") + cut("2", "n1", "2.00", "2.10", "role=leader"), "power cut of leader",
			"between the two grants came a power cut of n1 (leader)"},
	} {
		t.Run(name, func(t *testing.T) {
			result, _ := judgeText(t, plainPlan(), scenario(test.text))
			found := propertyOf(result, model.TokenMonotonicity).Findings
			if len(found) != 1 || found[0].Cause.Kind != test.kind || found[0].Cause.Text != test.says {
				t.Fatalf("found %+v", found)
			}
		})
	}
}
