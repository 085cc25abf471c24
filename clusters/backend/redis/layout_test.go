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
		{Name: "default", Opts: clusters.Options{TTL: 2 * time.Second}, Nodes: 3},
		{Name: "one server", Opts: clusters.Options{Nodes: 1, TTL: 2 * time.Second}, Nodes: 1},
		{Name: "odd milliseconds", Opts: clusters.Options{TTL: 1234 * time.Millisecond}, Nodes: 3},
		{Name: "five", Opts: clusters.Options{Nodes: 5, TTL: 2 * time.Second, Settings: set("quorum", "5")}, Nodes: 5},
		{Name: "two servers", Opts: clusters.Options{Nodes: 2, TTL: 2 * time.Second}, Wrong: "use 1 (without Sentinel) or 3 to 7"},
		{Name: "eight servers", Opts: clusters.Options{Nodes: 8, TTL: 2 * time.Second}, Wrong: "use 1 (without Sentinel) or 3 to 7"},
		{Name: "tiny", Opts: clusters.Options{TTL: time.Millisecond}, Wrong: "the nearest it can is 200ms"},
		{Name: "part of a millisecond", Opts: clusters.Options{TTL: 1500100 * time.Microsecond}, Wrong: "the nearest it can is 1.5s"},
		{Name: "append-only", Opts: clusters.Options{TTL: 2 * time.Second, Settings: set("appendonly", "yes")}, Nodes: 3},
		{Name: "no snapshots", Opts: clusters.Options{TTL: 2 * time.Second, Settings: set("save", "none")}, Nodes: 3},
		{Name: "bad snapshots", Opts: clusters.Options{TTL: 2 * time.Second, Settings: set("save", "60")}, Wrong: "neither pairs"},
		{Name: "unknown setting", Opts: clusters.Options{TTL: 2 * time.Second, Settings: set("appendfile", "1")}, Wrong: "there are: appendonly"},
		{Name: "bad choice", Opts: clusters.Options{TTL: 2 * time.Second, Settings: set("appendfsync", "sometimes")}, Wrong: "none of always, everysec, no"},
		{Name: "too many replicas wanted", Opts: clusters.Options{TTL: 2 * time.Second, Settings: set("min-replicas-to-write", "3")}, Wrong: "there are 2 replicas"},
		{Name: "too great a quorum", Opts: clusters.Options{TTL: 2 * time.Second, Settings: set("quorum", "4")}, Wrong: "there are 3 Sentinels"},
		{Name: "Sentinel's setting without one", Opts: clusters.Options{Nodes: 1, TTL: 2 * time.Second, Settings: set("quorum", "1")}, Wrong: "there is no setting \"quorum\""},
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
