package redlock

import (
	"testing"
	"time"

	"lockcheck/clusters"
	"lockcheck/clusters/testkit"
)

func TestLayout(t *testing.T) {
	testkit.CheckLayouts(t, Backend{}, []testkit.Layout{
		{"default", clusters.Options{TTL: 2 * time.Second}, 5, ""},
		{"three", clusters.Options{Nodes: 3, TTL: 2 * time.Second}, 3, ""},
		{"one", clusters.Options{Nodes: 1, TTL: 2 * time.Second}, 0, "an odd number from 3 to 9"},
		{"four", clusters.Options{Nodes: 4, TTL: 2 * time.Second}, 0, "an odd number from 3 to 9"},
		{"eleven", clusters.Options{Nodes: 11, TTL: 2 * time.Second}, 0, "an odd number from 3 to 9"},
		{"tiny", clusters.Options{TTL: 10 * time.Millisecond}, 0, "the nearest it can is 200ms"},
		{"append-only", clusters.Options{TTL: 2 * time.Second, Settings: map[string]string{"appendonly": "yes"}}, 5, ""},
		{"of replication", clusters.Options{TTL: 2 * time.Second, Settings: map[string]string{"min-replicas-to-write": "1"}}, 0, "there is no setting"},
	}, func(t *testing.T, _ testkit.Layout, layout clusters.Layout) {
		if len(layout.Settings) != len(settings()) {
			t.Errorf("settings are not complete: %v", layout.Settings)
		}
	})
}
