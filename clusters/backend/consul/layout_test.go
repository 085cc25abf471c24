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
	for _, c := range []struct {
		name  string
		opts  clusters.Options
		nodes int
		wrong string // part of the error; empty if there is none
	}{
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
	} {
		t.Run(c.name, func(t *testing.T) {
			layout := testkit.CheckLayout(t, Backend{}, c.opts, c.nodes, c.wrong)
			if layout == nil {
				return
			}
			if layout.Grace != c.opts.TTL || layout.Election == 0 {
				t.Errorf("got %+v", layout)
			}
			want := 15 * time.Second
			if value, ok := c.opts.Settings["lock-delay"]; ok {
				want = duration(value)
			}
			if layout.LockDelay != want {
				t.Errorf("the lock delay is %v, want %v", layout.LockDelay, want)
			}
		})
	}
}
