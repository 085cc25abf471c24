package mariadb

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
		{Name: "default", Opts: clusters.Options{TTL: ttl}, Nodes: 2},
		{Name: "one server", Opts: clusters.Options{Nodes: 1, TTL: ttl}, Nodes: 1},
		{Name: "a session as long as the TTL", Opts: clusters.Options{TTL: ttl, Settings: set(waitTimeout, "2")}, Nodes: 2},
		{Name: "Galera", Opts: clusters.Options{TTL: ttl, Settings: set(kind, galera)}, Nodes: 3},
		{Name: "Galera alone", Opts: clusters.Options{Nodes: 1, TTL: ttl, Settings: set(kind, galera)}, Wrong: "use an odd number from 3 to 7"},
		{Name: "three servers", Opts: clusters.Options{Nodes: 3, TTL: ttl}, Wrong: "use 1 (alone) or 2"},
		{Name: "tiny", Opts: clusters.Options{TTL: time.Millisecond}, Wrong: "the nearest it can is 200ms"},
		{Name: "part of a millisecond", Opts: clusters.Options{TTL: 1500100 * time.Microsecond}, Wrong: "the nearest it can is 1.5s"},
		{Name: "a session shorter than the TTL", Opts: clusters.Options{TTL: ttl, Settings: set(waitTimeout, "1")}, Wrong: "use at least 2"},
		{Name: "a transaction shorter than the TTL", Opts: clusters.Options{TTL: ttl, Settings: set(idleTransaction, "1")}, Wrong: "use at least 2"},
		{Name: "unknown setting", Opts: clusters.Options{TTL: ttl, Settings: set("wait_timout", "9")}, Wrong: "wait_timeout"},
	}, func(t *testing.T, want testkit.Layout, layout clusters.Layout) {
		if leads := want.Nodes > 1 && !isGalera(layout.Settings); (layout.Election > 0) != leads {
			t.Errorf("of %d servers none leads for up to %v", want.Nodes, layout.Election)
		}
	})
}
