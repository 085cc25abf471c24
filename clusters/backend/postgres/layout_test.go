package postgres

import (
	"testing"
	"time"

	"lockcheck/clusters"
	"lockcheck/clusters/testkit"
)

func TestLayout(t *testing.T) {
	const ttl = 2 * time.Second
	set := func(name, value string) map[string]string { return map[string]string{name: value} }
	testkit.CheckLayouts(t, Backend{}, []testkit.Layout{
		{"default", clusters.Options{TTL: ttl}, 2, ""},
		{"one server", clusters.Options{Nodes: 1, TTL: ttl}, 1, ""},
		{"odd milliseconds", clusters.Options{TTL: 1234 * time.Millisecond}, 2, ""},
		{"synchronous", clusters.Options{TTL: ttl, Settings: set("synchronous_commit", "remote_apply")}, 2, ""},
		{"a session as long as the TTL", clusters.Options{TTL: ttl, Settings: set("idle_session_timeout", "2000")}, 2, ""},
		{"three servers", clusters.Options{Nodes: 3, TTL: ttl}, 0, "use 1 (alone) or 2"},
		{"tiny", clusters.Options{TTL: time.Millisecond}, 0, "the nearest it can is 200ms"},
		{"part of a millisecond", clusters.Options{TTL: 1500100 * time.Microsecond}, 0, "the nearest it can is 1.5s"},
		{"a standby that is not there", clusters.Options{Nodes: 1, TTL: ttl, Settings: set("synchronous_commit", "remote_write")}, 0, "a server alone has none"},
		{"a session shorter than the TTL", clusters.Options{TTL: ttl, Settings: set("idle_session_timeout", "1999")}, 0, "use 0 or at least 2000"},
		{"a transaction shorter than the TTL", clusters.Options{TTL: ttl, Settings: set("idle_in_transaction_session_timeout", "1")}, 0, "use 0 or at least 2000"},
		{"unknown setting", clusters.Options{TTL: ttl, Settings: set("fsink", "on")}, 0, "fsync"},
		{"bad choice", clusters.Options{TTL: ttl, Settings: set("synchronous_commit", "sometimes")}, 0, "none of off, local, on"},
	}, func(t *testing.T, want testkit.Layout, layout clusters.Layout) {
		if (layout.Election > 0) != (want.Nodes > 1) {
			t.Errorf("of %d servers none leads for up to %v", want.Nodes, layout.Election)
		}
	})
}
