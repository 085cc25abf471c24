package consul

import (
	"testing"
	"time"

	"lockcheck/clusters"
	"lockcheck/clusters/testkit"
)

const ttl = 2 * time.Second

func TestLayout(t *testing.T) {
	set := func(name, value string) map[string]string { return map[string]string{name: value} }
	testkit.CheckLayouts(t, Backend{}, []testkit.Layout{
		{"default", clusters.Options{TTL: ttl}, 3, ""},
		{"one server", clusters.Options{Nodes: 1, TTL: ttl}, 1, ""},
		{"odd milliseconds", clusters.Options{TTL: 1234 * time.Millisecond}, 3, ""},
		{"no lock delay", clusters.Options{TTL: ttl, Settings: set("lock-delay", "0s")}, 3, ""},
		{"the least that sessions may have, set", clusters.Options{TTL: 300 * time.Millisecond, Settings: set("session_ttl_min", "300ms")}, 3, ""},
		{"two servers", clusters.Options{Nodes: 2, TTL: ttl}, 0, "odd number"},
		{"too many servers", clusters.Options{Nodes: 9, TTL: ttl}, 0, "1 to 7"},
		{"tiny", clusters.Options{TTL: 999 * time.Millisecond}, 0, "the nearest it can is 1s"},
		{"as Consul has it", clusters.Options{TTL: ttl, Settings: set("session_ttl_min", "10s")}, 0, "the nearest it can is 10s"},
		{"longer than a day", clusters.Options{TTL: 25 * time.Hour}, 0, "the nearest it can is 24h0m0s"},
		{"part of a millisecond", clusters.Options{TTL: 1500100 * time.Microsecond}, 0, "the nearest it can is 1.5s"},
		{"a delay that Consul would shorten", clusters.Options{TTL: ttl, Settings: set("lock-delay", "61s")}, 0, "from 0s to 1m0s"},
		{"a delay without a unit", clusters.Options{TTL: ttl, Settings: set("lock-delay", "15")}, 0, "such as 1500ms or 15s"},
		{"unknown setting", clusters.Options{TTL: ttl, Settings: set("raft_multiplyer", "2")}, 0, "raft_multiplier"},
		{"bad number", clusters.Options{TTL: ttl, Settings: set("raft_multiplier", "11")}, 0, "from 1 to 10"},
	}, func(t *testing.T, want testkit.Layout, layout clusters.Layout) {
		if layout.Grace != want.Opts.TTL || layout.Election == 0 {
			t.Errorf("got %+v", layout)
		}
		delay := 15 * time.Second
		if value, ok := want.Opts.Settings["lock-delay"]; ok {
			delay = duration(value)
		}
		if layout.LockDelay != delay {
			t.Errorf("the lock delay is %v, want %v", layout.LockDelay, delay)
		}
	})
}
