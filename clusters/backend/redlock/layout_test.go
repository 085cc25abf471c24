package redlock

import (
	"testing"
	"time"

	"lockcheck/clusters"
	"lockcheck/clusters/testkit"
)

func TestLayout(t *testing.T) {
	testkit.CheckLayouts(t, Backend{}, []testkit.Layout{
		{Name: "default", Opts: clusters.Options{TTL: 2 * time.Second}, Nodes: 5},
		{Name: "three", Opts: clusters.Options{Nodes: 3, TTL: 2 * time.Second}, Nodes: 3},
		{Name: "one", Opts: clusters.Options{Nodes: 1, TTL: 2 * time.Second}, Wrong: "an odd number from 3 to 9"},
		{Name: "four", Opts: clusters.Options{Nodes: 4, TTL: 2 * time.Second}, Wrong: "an odd number from 3 to 9"},
		{Name: "eleven", Opts: clusters.Options{Nodes: 11, TTL: 2 * time.Second}, Wrong: "an odd number from 3 to 9"},
		{Name: "tiny", Opts: clusters.Options{TTL: 10 * time.Millisecond}, Wrong: "the nearest it can is 200ms"},
		{Name: "append-only", Opts: clusters.Options{TTL: 2 * time.Second, Settings: map[string]string{"appendonly": "yes"}}, Nodes: 5},
		{Name: "of replication", Opts: clusters.Options{TTL: 2 * time.Second, Settings: map[string]string{"min-replicas-to-write": "1"}}, Wrong: "there is no setting"},
	}, func(t *testing.T, _ testkit.Layout, layout clusters.Layout) {
		if len(layout.Settings) != len(settings()) {
			t.Errorf("settings are not complete: %v", layout.Settings)
		}
	})
}
