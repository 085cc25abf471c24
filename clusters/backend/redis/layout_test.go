package redis

import (
	"strings"
	"testing"
	"time"

	"lockcheck/clusters"
	"lockcheck/clusters/backend/redis/server"
	"lockcheck/clusters/testkit"
)

func TestLayout(t *testing.T) {
	set := func(name, value string) map[string]string { return map[string]string{name: value} }
	testkit.CheckLayouts(t, Backend{}, []testkit.Layout{
		{"default", clusters.Options{TTL: 2 * time.Second}, 3, ""},
		{"one server", clusters.Options{Nodes: 1, TTL: 2 * time.Second}, 1, ""},
		{"odd milliseconds", clusters.Options{TTL: 1234 * time.Millisecond}, 3, ""},
		{"five", clusters.Options{Nodes: 5, TTL: 2 * time.Second, Settings: set("quorum", "5")}, 5, ""},
		{"two servers", clusters.Options{Nodes: 2, TTL: 2 * time.Second}, 0, "use 1 (without Sentinel) or 3 to 7"},
		{"eight servers", clusters.Options{Nodes: 8, TTL: 2 * time.Second}, 0, "use 1 (without Sentinel) or 3 to 7"},
		{"tiny", clusters.Options{TTL: time.Millisecond}, 0, "the nearest it can is 200ms"},
		{"part of a millisecond", clusters.Options{TTL: 1500100 * time.Microsecond}, 0, "the nearest it can is 1.5s"},
		{"append-only", clusters.Options{TTL: 2 * time.Second, Settings: set("appendonly", "yes")}, 3, ""},
		{"no snapshots", clusters.Options{TTL: 2 * time.Second, Settings: set("save", "none")}, 3, ""},
		{"bad snapshots", clusters.Options{TTL: 2 * time.Second, Settings: set("save", "60")}, 0, "neither pairs"},
		{"unknown setting", clusters.Options{TTL: 2 * time.Second, Settings: set("appendfile", "1")}, 0, "there are: appendonly"},
		{"bad choice", clusters.Options{TTL: 2 * time.Second, Settings: set("appendfsync", "sometimes")}, 0, "none of always, everysec, no"},
		{"too many replicas wanted", clusters.Options{TTL: 2 * time.Second, Settings: set("min-replicas-to-write", "3")}, 0, "there are 2 replicas"},
		{"too great a quorum", clusters.Options{TTL: 2 * time.Second, Settings: set("quorum", "4")}, 0, "there are 3 Sentinels"},
		{"Sentinel's setting without one", clusters.Options{Nodes: 1, TTL: 2 * time.Second, Settings: set("quorum", "1")}, 0, "there is no setting \"quorum\""},
	}, func(t *testing.T, want testkit.Layout, layout clusters.Layout) {
		if want.Nodes > 1 && layout.Settings["quorum"] == "" {
			t.Errorf("no quorum is set: %v", layout.Settings)
		}
	})
}

func TestSnapshotsInTheConfiguration(t *testing.T) {
	for value, want := range map[string]string{
		"none": `save ""`, "3600 1 300 100": "save 3600 1\nsave 300 100",
	} {
		values, err := server.Persistence.Resolve(map[string]string{"save": value})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(server.Lines(server.Persistence, values), "\n"); !strings.HasSuffix(got, want) {
			t.Errorf("%q becomes %q, want it to end with %q", value, got, want)
		}
	}
}
