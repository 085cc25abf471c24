//go:build e2e && linux

package agent_test

import (
	"path/filepath"
	"testing"
	"time"

	"lockcheck/clusters"
	clusterkit "lockcheck/clusters/testkit"
	"lockcheck/nemesis/agent"
	"lockcheck/nemesis/testkit"
)

// A server of its own, asked what time it is.
func TestRedisSeesTheClockThatWasAskedFor(t *testing.T) {
	program := clusterkit.Need(t, "redis-server")
	onHosts(t, func(t *testing.T, site clusters.Site) {
		b := newBox(t, site, "n1")
		dir := t.TempDir()
		socket := filepath.Join(dir, "socket")
		server, err := b.Start(t.Context(), clusters.Command{
			Program: program, Log: "redis",
			Args: []string{"--port", "0", "--unixsocket", socket, "--dir", dir, "--save", ""},
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, offset := range []time.Duration{90 * time.Second, -90 * time.Second, 5 * time.Second} {
			var seen agent.ClockSeen
			b.do(t, agent.ClockSet, skew(server, offset, 0, time.Minute), &seen)
			if off := testkit.Redis(t, socket); !testkit.Near(off, offset) || !testkit.Near(seen.Wall, offset) {
				t.Errorf("TIME is off by %v, the agent says %v, want %v", off, seen.Wall, offset)
			}
		}
		b.do(t, agent.ClockReset, clusters.TargetOf(server), nil)
		if off := testkit.Redis(t, socket); !testkit.Near(off, 0) {
			t.Errorf("TIME is off by %v after healing", off)
		}
	})
}
