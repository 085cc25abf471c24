package nats

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
		{Name: "five servers", Opts: clusters.Options{Nodes: 5, TTL: time.Second}, Nodes: 5},
		{Name: "synced always", Opts: clusters.Options{TTL: ttl, Settings: set(syncInterval, "always")}, Nodes: 3},
		{Name: "one replica", Opts: clusters.Options{TTL: ttl, Settings: set(replicas, "1")}, Nodes: 3},
		{Name: "two servers", Opts: clusters.Options{Nodes: 2, TTL: ttl}, Wrong: "odd number"},
		{Name: "more servers than replicas", Opts: clusters.Options{Nodes: 7, TTL: ttl}, Wrong: "1 to 5"},
		{Name: "more replicas than servers", Opts: clusters.Options{TTL: ttl, Settings: set(replicas, "5")}, Wrong: "replicas=5 needs 5 servers"},
		{Name: "a fraction", Opts: clusters.Options{TTL: 2900 * time.Millisecond}, Wrong: "the nearest it can is 3s"},
		{Name: "below a second", Opts: clusters.Options{TTL: 100 * time.Millisecond}, Wrong: "the nearest it can is 1s"},
		{Name: "no interval", Opts: clusters.Options{TTL: ttl, Settings: set(syncInterval, "never")}, Wrong: `neither "always" nor a time`},
		{Name: "unknown setting", Opts: clusters.Options{TTL: ttl, Settings: set("sync_intervall", "2m")}, Wrong: syncInterval},
	}, func(t *testing.T, want testkit.Layout, layout clusters.Layout) {
		if alone := want.Nodes == 1; layout.Grace != grace || (layout.Election == 0) != alone {
			t.Errorf("got %+v", layout)
		}
	})
}
