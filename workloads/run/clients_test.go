package run

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
	run := &Run{fleet: &fleet{}}
	run.plan.LockClient = "./mine"
	run.observed.Tokens, run.observed.Release = history.TokensOrdered, history.ReleaseChecked
	for says, ready := range map[string]client.Ready{
		"": {Tokens: "ordered", Release: "checked"},
		`c1-2 declares tokens "none", and those before it "ordered"`:       {Tokens: "none", Release: "checked"},
		`c1-2 declares release "unchecked", and those before it "checked"`: {Tokens: "ordered", Release: "unchecked"},
		`c1-2 declares retry_ms "5000", and those before it "0"`:           {Tokens: "ordered", Release: "checked", RetryMS: 5000},
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

// Idempotency keys are asked of every client where a resource under test is to know records by them; one of lockcheck's own knows them by
// their slots.
func TestEveryClientHasToSendIdempotencyKeys(t *testing.T) {
	tested := &history.UnderTest{}
	for _, c := range []struct {
		execution history.Execution
		tested    *history.UnderTest
		commands  []string
		refused   bool
	}{
		{history.Idempotent, tested, []string{"acquire", client.KnowsIdempotencyKeys}, false},
		{history.Idempotent, tested, []string{"acquire"}, true},
		{history.Idempotent, nil, []string{"acquire"}, false},
		{history.AtLeastOnce, tested, []string{"acquire"}, false},
	} {
		run := &Run{fleet: &fleet{}}
		run.plan.Execution, run.plan.UnderTest = c.execution, c.tested
		err := run.agrees(&member{name: "c2", ready: client.Ready{Commands: c.commands}})
		says := "the ready report of c2 does not name " + client.KnowsIdempotencyKeys
		if (err != nil) != c.refused || err != nil && (!errors.Is(err, clusters.ErrUsage) || !strings.Contains(err.Error(), says)) {
			t.Errorf("%s, a resource under test %t, a client that knows %q: %v", c.execution, c.tested != nil, c.commands, err)
		}
	}
}
