package nemesis

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// Where others run the servers, a default mix keeps what it does to clients, and what is asked for by name is refused if it is not
// about clients.
func TestFaultsOfServersThatOthersRunAreRefused(t *testing.T) {
	plan := Conditions{Seed: 1, TTL: time.Second, Limit: 20 * time.Second, Servers: 2, Clients: 3, Attached: true, ResourceUnderTest: true}
	for spec, want := range map[string]string{
		"none":                      "",
		"pause":                     "pause:holder,pause:client",
		"kill":                      "kill:holder",
		"clock":                     "clock:client",
		"partition":                 "partition:holder,partition:client",
		"loss":                      "loss:holder,loss:client",
		"rate":                      "rate:holder,rate:client",
		"slow":                      "slow:holder,slow:client",
		"partition:holder-node(2)":  "partition:holder",
		"partition:client-resource": "partition:client",
		"loss:clients-servers,20%":  "loss:clients",
		"kill:resource@worked":      "kill:resource",
	} {
		made, err := New(spec, plan)
		if err != nil {
			t.Errorf("%s: %v", spec, err)
			continue
		}
		var targets []string
		for _, mix := range made.(*schedule).specs[0] {
			for _, f := range mix {
				if name := f.Kind + ":" + f.Target.Name; f.Kind != none.Name && !slices.Contains(targets, name) {
					targets = append(targets, name)
				}
			}
		}
		if got := strings.Join(targets, ","); got != want {
			t.Errorf("%s is about %s, want %s", spec, got, want)
		}
	}
	for _, spec := range []string{
		"pause:one", "kill:leader", "kill:all", "clock:majority", "failover", "partition:node", "partition:minority", "loss:follower", "rate:leader,1mbit", "slow:one", "restart:all,rolling",
		"partition:holder-leader", "partition:client-majority", "pause:holder,kill:node(1)", "partition:holder;pause:leader",
	} {
		if _, err := New(spec, plan); err == nil || !strings.Contains(err.Error(), "others run the servers") {
			t.Errorf("%s: %v, want a refusal", spec, err)
		}
	}
	if _, err := New("partition:holder-node(3)", plan); err == nil || !strings.Contains(err.Error(), "there is no node(3)") {
		t.Errorf("a server that is not there: %v", err)
	}
}
