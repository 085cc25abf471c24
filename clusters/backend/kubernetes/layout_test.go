package kubernetes

import (
	"slices"
	"testing"
	"time"

	"lockcheck/checker/history"
	"lockcheck/clusters"
	"lockcheck/clusters/testkit"
)

func TestLayout(t *testing.T) {
	const ttl = 2 * time.Second
	set := func(name, value string) map[string]string { return map[string]string{name: value} }
	testkit.CheckLayouts(t, Backend{}, []testkit.Layout{
		{Name: "default", Opts: clusters.Options{TTL: ttl}, Nodes: 3},
		{Name: "one member", Opts: clusters.Options{Nodes: 1, TTL: ttl}, Nodes: 1},
		{Name: "Kubernetes' own TTL", Opts: clusters.Options{TTL: 15 * time.Second}, Nodes: 3},
		{Name: "a setting of the API servers", Opts: clusters.Options{TTL: ttl, Settings: set("max-mutating-requests-inflight", "10")}, Nodes: 3},
		{Name: "a setting of the members", Opts: clusters.Options{TTL: ttl, Settings: set("election-timeout", "1000")}, Nodes: 3},
		{Name: "members that grant no short lease", Opts: clusters.Options{TTL: ttl, Settings: set("election-timeout", "5000")}, Nodes: 3},
		{Name: "too many members", Opts: clusters.Options{Nodes: 9, TTL: ttl}, Wrong: "use 1 to 7"},
		{Name: "a second", Opts: clusters.Options{TTL: time.Second}, Wrong: "the nearest it can is 2s"},
		{Name: "part of a second", Opts: clusters.Options{TTL: 2700 * time.Millisecond}, Wrong: "the nearest it can is 3s"},
		{Name: "unknown setting", Opts: clusters.Options{TTL: ttl, Settings: set("max-requests-inflght", "1")}, Wrong: "max-requests-inflight"},
		{Name: "bad number", Opts: clusters.Options{TTL: ttl, Settings: set("max-requests-inflight", "0")}, Wrong: "no whole number from 1"},
		{Name: "election too short", Opts: clusters.Options{TTL: ttl, Settings: set("election-timeout", "200")}, Wrong: "less than 5 times"},
	}, func(t *testing.T, want testkit.Layout, layout clusters.Layout) {
		if fronts := clusters.NodeNames(want.Nodes + 2)[want.Nodes:]; !slices.Equal(layout.Fronts, fronts) {
			t.Errorf("API servers %v, want %v", layout.Fronts, fronts)
		}
		if layout.LeaseClock != history.ClockOfClients || layout.Election == 0 {
			t.Errorf("leases by the %s clock, no leader for %v", layout.LeaseClock, layout.Election)
		}
	})
}
