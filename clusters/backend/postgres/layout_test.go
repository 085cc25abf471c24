package postgres

import (
	"errors"
	"strings"
	"testing"
	"time"

	"lockcheck/clusters"
	"lockcheck/clusters/testkit"
)

func TestLayout(t *testing.T) {
	const ttl = 2 * time.Second
	set := func(name, value string) map[string]string { return map[string]string{name: value} }
	testkit.CheckLayouts(t, Backend{}, []testkit.Layout{
		{Name: "default", Opts: clusters.Options{TTL: ttl}, Nodes: 2},
		{Name: "one server", Opts: clusters.Options{Nodes: 1, TTL: ttl}, Nodes: 1},
		{Name: "odd milliseconds", Opts: clusters.Options{TTL: 1234 * time.Millisecond}, Nodes: 2},
		{Name: "synchronous", Opts: clusters.Options{TTL: ttl, Settings: set("synchronous_commit", "remote_apply")}, Nodes: 2},
		{Name: "a session as long as the TTL", Opts: clusters.Options{TTL: ttl, Settings: set("idle_session_timeout", "2000")}, Nodes: 2},
		{Name: "a pooler", Opts: clusters.Options{TTL: ttl, Settings: set("pooler", "transaction")}, Nodes: 1},
		{Name: "a pooler that each client has one connection of", Opts: clusters.Options{TTL: ttl, Settings: map[string]string{
			"pooler": "session", "idle_session_timeout": "2000"}}, Nodes: 1},
		{Name: "a transaction that is ended behind a pooler", Opts: clusters.Options{TTL: ttl, Settings: map[string]string{
			"pooler": "transaction", "idle_in_transaction_session_timeout": "2000"}}, Nodes: 1},
		{Name: "a pooler that is none", Opts: clusters.Options{TTL: ttl, Settings: set("pooler", "none")}, Nodes: 2},
		{Name: "a mode without transactions", Opts: clusters.Options{TTL: ttl, Settings: set("pooler", "statement")}, Wrong: "none of none, session, transaction"},
		{Name: "a pooler and a standby", Opts: clusters.Options{Nodes: 2, TTL: ttl, Settings: set("pooler", "session")}, Wrong: "use --nodes=1, or pooler=none"},
		{Name: "a silence that no client can count", Opts: clusters.Options{TTL: ttl, Settings: map[string]string{
			"pooler": "transaction", "idle_session_timeout": "2000"}}, Wrong: "use 0"},
		{Name: "three servers", Opts: clusters.Options{Nodes: 3, TTL: ttl}, Wrong: "use 1 (alone) or 2"},
		{Name: "tiny", Opts: clusters.Options{TTL: time.Millisecond}, Wrong: "the nearest it can is 200ms"},
		{Name: "part of a millisecond", Opts: clusters.Options{TTL: 1500100 * time.Microsecond}, Wrong: "the nearest it can is 1.5s"},
		{Name: "a standby that is not there", Opts: clusters.Options{Nodes: 1, TTL: ttl, Settings: set("synchronous_commit", "remote_write")}, Wrong: "a server alone has none"},
		{Name: "a session shorter than the TTL", Opts: clusters.Options{TTL: ttl, Settings: set("idle_session_timeout", "1999")}, Wrong: "use 0 or at least 2000"},
		{Name: "a transaction shorter than the TTL", Opts: clusters.Options{TTL: ttl, Settings: set("idle_in_transaction_session_timeout", "1")}, Wrong: "use 0 or at least 2000"},
		{Name: "unknown setting", Opts: clusters.Options{TTL: ttl, Settings: set("fsink", "on")}, Wrong: "fsync"},
		{Name: "bad choice", Opts: clusters.Options{TTL: ttl, Settings: set("synchronous_commit", "sometimes")}, Wrong: "none of off, local, on"},
	}, func(t *testing.T, want testkit.Layout, layout clusters.Layout) {
		if (layout.Election > 0) != (want.Nodes > 1) {
			t.Errorf("of %d servers none leads for up to %v", want.Nodes, layout.Election)
		}
		if asked := want.Opts.Settings["pooler"]; (len(layout.Fronts) == 1) != (asked != "" && asked != "none") {
			t.Errorf("pooler %q: %v are before the servers", asked, layout.Fronts)
		}
	})
}

func TestAPoolerOfOthersIsRefused(t *testing.T) {
	for setting, wrong := range map[string]string{"session": "name the server behind your pooler", "none": ""} {
		layout, err := clusters.AttachLayout(Backend{}, 2, clusters.Options{TTL: 2 * time.Second, Settings: map[string]string{"pooler": setting}})
		switch {
		case wrong == "" && (err != nil || len(layout.Nodes) != 2):
			t.Errorf("%s: %v, %v", setting, layout.Nodes, err)
		case wrong != "" && (!errors.Is(err, clusters.ErrUsage) || !strings.Contains(err.Error(), wrong)):
			t.Errorf("%s: %v", setting, err)
		}
	}
}
