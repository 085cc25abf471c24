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
		{Name: "default", Opts: clusters.Options{TTL: ttl}, Nodes: 3},
		{Name: "one server", Opts: clusters.Options{Nodes: 1, TTL: ttl}, Nodes: 1},
		{Name: "odd milliseconds", Opts: clusters.Options{TTL: 1234 * time.Millisecond}, Nodes: 3},
		{Name: "no lock delay", Opts: clusters.Options{TTL: ttl, Settings: set("lock-delay", "0s")}, Nodes: 3},
		{Name: "the least that sessions may have, set", Opts: clusters.Options{TTL: 300 * time.Millisecond, Settings: set("session_ttl_min", "300ms")}, Nodes: 3},
		{Name: "two servers", Opts: clusters.Options{Nodes: 2, TTL: ttl}, Wrong: "odd number"},
		{Name: "too many servers", Opts: clusters.Options{Nodes: 9, TTL: ttl}, Wrong: "1 to 7"},
		{Name: "tiny", Opts: clusters.Options{TTL: 999 * time.Millisecond}, Wrong: "the nearest it can is 1s"},
		{Name: "as Consul has it", Opts: clusters.Options{TTL: ttl, Settings: set("session_ttl_min", "10s")}, Wrong: "the nearest it can is 10s"},
		{Name: "longer than a day", Opts: clusters.Options{TTL: 25 * time.Hour}, Wrong: "the nearest it can is 24h0m0s"},
		{Name: "part of a millisecond", Opts: clusters.Options{TTL: 1500100 * time.Microsecond}, Wrong: "the nearest it can is 1.5s"},
		{Name: "a delay that Consul would shorten", Opts: clusters.Options{TTL: ttl, Settings: set("lock-delay", "61s")}, Wrong: "from 0s to 1m0s"},
		{Name: "a delay without a unit", Opts: clusters.Options{TTL: ttl, Settings: set("lock-delay", "15")}, Wrong: "such as 1500ms or 15s"},
		{Name: "unknown setting", Opts: clusters.Options{TTL: ttl, Settings: set("raft_multiplyer", "2")}, Wrong: "raft_multiplier"},
		{Name: "bad number", Opts: clusters.Options{TTL: ttl, Settings: set("raft_multiplier", "11")}, Wrong: "from 1 to 10"},
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
