package workloads

import (
	"errors"
	"strings"
	"testing"

	"lockcheck/checker/history"
	"lockcheck/clusters"
	"lockcheck/clusters/client"
)

// A client that starts later is held to what the plan says by then, and not to another word of its own.
func TestAllClientsHaveToDeclareTheSame(t *testing.T) {
	run := &Run{fleet: &fleet{command: clusters.Command{Program: "./mine"}}}
	run.plan.Tokens, run.plan.Release = history.TokensOrdered, history.ReleaseChecked
	for says, ready := range map[string]client.Ready{
		"": {Tokens: "ordered", Release: "checked"},
		`c1-2 declares tokens "none", and those before it "ordered"`:       {Tokens: "none", Release: "checked"},
		`c1-2 declares release "unchecked", and those before it "checked"`: {Tokens: "ordered", Release: "unchecked"},
		`c1-2 declares release "", and those before it "checked"`:          {Tokens: "ordered"},
	} {
		err := run.agrees(&member{name: "c1-2", ready: ready})
		if (err == nil) != (says == "") || err != nil && (!errors.Is(err, clusters.ErrUsage) || !strings.Contains(err.Error(), says)) {
			t.Errorf("%+v: %v, want %q", ready, err, says)
		}
	}
}

// A guard that asks the service is asked of every client, also of one that starts later.
func TestEveryClientHasToBeAbleToGuard(t *testing.T) {
	run := &Run{fleet: &fleet{}}
	run.plan.Guard = string(history.GuardAsk)
	if err := run.agrees(&member{name: "c1", ready: client.Ready{Commands: []string{"acquire", "ask"}}}); err != nil {
		t.Error(err)
	}
	err := run.agrees(&member{name: "c2", ready: client.Ready{Commands: []string{"acquire"}}})
	if !errors.Is(err, clusters.ErrUsage) || !strings.Contains(err.Error(), "the ready report of c2 does not name ask") {
		t.Errorf("a client that cannot ask: %v", err)
	}
}
