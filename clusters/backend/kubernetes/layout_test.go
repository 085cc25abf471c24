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
		{"default", clusters.Options{TTL: ttl}, 3, ""},
		{"one member", clusters.Options{Nodes: 1, TTL: ttl}, 1, ""},
		{"Kubernetes' own TTL", clusters.Options{TTL: 15 * time.Second}, 3, ""},
		{"a setting of the API servers", clusters.Options{TTL: ttl, Settings: set("max-mutating-requests-inflight", "10")}, 3, ""},
		{"a setting of the members", clusters.Options{TTL: ttl, Settings: set("election-timeout", "1000")}, 3, ""},
		{"members that grant no short lease", clusters.Options{TTL: ttl, Settings: set("election-timeout", "5000")}, 3, ""},
		{"too many members", clusters.Options{Nodes: 9, TTL: ttl}, 0, "use 1 to 7"},
		{"a second", clusters.Options{TTL: time.Second}, 0, "the nearest it can is 2s"},
		{"part of a second", clusters.Options{TTL: 2700 * time.Millisecond}, 0, "the nearest it can is 3s"},
		{"unknown setting", clusters.Options{TTL: ttl, Settings: set("max-requests-inflght", "1")}, 0, "max-requests-inflight"},
		{"bad number", clusters.Options{TTL: ttl, Settings: set("max-requests-inflight", "0")}, 0, "no whole number from 1"},
		{"election too short", clusters.Options{TTL: ttl, Settings: set("election-timeout", "200")}, 0, "less than 5 times"},
	}, func(t *testing.T, want testkit.Layout, layout clusters.Layout) {
		if fronts := clusters.NodeNames(want.Nodes + 2)[want.Nodes:]; !slices.Equal(layout.Fronts, fronts) {
			t.Errorf("API servers %v, want %v", layout.Fronts, fronts)
		}
		if layout.LeaseClock != history.ClockOfClients || layout.Election == 0 {
			t.Errorf("leases by the %s clock, no leader for %v", layout.LeaseClock, layout.Election)
		}
	})
}
