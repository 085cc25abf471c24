//go:build linux

package targets

import (
	"context"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"lockcheck/clusters"
	"lockcheck/clusters/provider/procs"
	"lockcheck/nemesis/agent"
)

// sleeperNode is a process that does nothing, as a node of a cluster.
type sleeperNode struct {
	host    clusters.Host
	process clusters.Process
}

func (n *sleeperNode) Name() string              { return n.host.Name() }
func (n *sleeperNode) Addr() string              { return n.host.Addr() }
func (n *sleeperNode) Host() clusters.Host       { return n.host }
func (n *sleeperNode) Process() clusters.Process { return n.process }

func (n *sleeperNode) Restart(ctx context.Context, _ bool) (err error) {
	n.process, err = n.host.Start(ctx, clusters.Command{Program: "/bin/sleep", Args: []string{"1000"}, Log: "sleeper"})
	return err
}

// looks are what a process is seen to be at looks a millisecond apart.
type looks struct{ stopped, running int }

// look looks 200 times, or for as long as it takes to see the process in turns.
func (n *sleeperNode) look(t *testing.T, turns bool) (seen looks) {
	t.Helper()
	for i := 0; i < 200 || turns && i < 20_000 && (seen.stopped == 0 || seen.running == 0); i++ {
		stat, err := procs.ReadStat(n.process.PID())
		switch {
		case err != nil:
			t.Fatal(err)
		case stat.State == 'T':
			seen.stopped++
		default:
			seen.running++
		}
		time.Sleep(time.Millisecond)
	}
	return seen
}

// runsAgain waits until the process is not stopped.
func (n *sleeperNode) runsAgain(t *testing.T) bool {
	t.Helper()
	for range 5000 {
		stat, err := procs.ReadStat(n.process.PID())
		switch {
		case err != nil:
			t.Fatal(err)
		case stat.State != 'T':
			return true
		}
		time.Sleep(time.Millisecond)
	}
	return false
}

// A slowdown takes turns with everything else that stops a process, traces it or starts it again.
func TestASlowdownMakesWayForOtherFaults(t *testing.T) {
	onHosts(t, func(t *testing.T, site clusters.Site) {
		on := newLink(t, NewAgents(), site, "n1")
		node := &sleeperNode{host: on.host}
		must := func(what string, err error) {
			t.Helper()
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
		}
		must("start", node.Restart(t.Context(), false))
		s := NewServers(on.agents, nil).Server(node)
		want := func(when string, stops, runs bool) {
			t.Helper()
			if seen := node.look(t, stops && runs); (seen.stopped > 0) != stops || (seen.running > 0) != runs {
				t.Errorf("%s: it was seen %+v, want stops: %v, runs: %v", when, seen, stops, runs)
			}
		}
		want("at first", false, true)
		asked := time.Now()
		since, seen, err := s.Slow(t.Context(), 0.05)
		must("slow", err)
		if !strings.Contains(seen, "ran ") || since.Before(asked) || !since.Before(time.Now()) {
			t.Errorf("seen: %q, %v after it was asked for", seen, since.Sub(asked))
		}
		want("slowed", true, true)
		must("pause", s.Pause(t.Context()))
		want("paused", true, false)
		must("resume", s.Resume(t.Context()))
		want("slowed after the pause", true, true)
		must("kill", s.Kill(t.Context()))
		must("restart", s.Restart(t.Context(), false))
		want("slowed after it was started again", true, true)
		how, err := s.Quit(t.Context())
		must("stop", err)
		if how != "signal: terminated" {
			t.Errorf("it ended with %q", how)
		}
		must("restart", s.Restart(t.Context(), false))
		want("slowed after it was stopped and started again", true, true)
		_, err = s.Unslow(t.Context())
		must("unslow", err)
		want("taken back", false, true)
		must("kill", s.Kill(t.Context()))
		must("restart", s.Restart(t.Context(), false))
		want("started again, with nothing to be done", false, true)
	})
}

// killAgents ends the agents of this process by SIGKILL.
func killAgents(t *testing.T) {
	t.Helper()
	pids, err := procs.Numbers()
	if err != nil {
		t.Fatal(err)
	}
	killed := 0
	for _, pid := range pids {
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if stat, err := procs.ReadStat(pid); err == nil && stat.Parent == os.Getpid() && string(line) == "lockcheck\x00"+agent.Command+"\x00" {
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			killed++
		}
	}
	if killed == 0 {
		t.Fatal("there was no agent")
	}
}

// An agent that was killed in the middle of a turn leaves no process stopped. What its turns were is unknown, and that is reported.
func TestASlowdownWhoseAgentIsGoneIsTakenBack(t *testing.T) {
	onHosts(t, func(t *testing.T, site clusters.Site) {
		agents := NewAgents()
		on := newLink(t, agents, site, "n1")
		node := &sleeperNode{host: on.host}
		if err := node.Restart(t.Context(), false); err != nil {
			t.Fatal(err)
		}
		s := NewServers(on.agents, nil).Server(node)
		if _, _, err := s.Slow(t.Context(), 0.02); err != nil {
			t.Fatal(err)
		}
		stuck := false
		for range 2000 { // the agent is killed while the process is stopped
			if stat, err := procs.ReadStat(node.process.PID()); err == nil && stat.State == 'T' {
				stuck = true
				break
			}
			time.Sleep(time.Millisecond)
		}
		killAgents(t)
		if !node.runsAgain(t) {
			t.Error("its agent has ended, and it is left stopped")
		}
		if _, err := s.Unslow(t.Context()); err == nil || !strings.Contains(err.Error(), "the agent on host n1 has ended") {
			t.Errorf("unslow: %v, want that the agent has ended", err)
		}
		if seen := node.look(t, false); !stuck || seen.stopped > 0 {
			t.Errorf("stopped before: %v; after: %+v", stuck, seen)
		}
	})
}
