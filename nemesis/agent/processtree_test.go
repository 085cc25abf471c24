//go:build e2e && linux

package agent_test

import (
	_ "embed"
	"errors"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"lockcheck/clusters"
	"lockcheck/clusters/provider/procs"
	clusterkit "lockcheck/clusters/testkit"
	"lockcheck/nemesis/agent"
	"lockcheck/nemesis/testkit"
	"lockcheck/nemesis/vdso"
)

// treeProgram is given as it is, not by its path, which the user may not be let through to.
//
//go:embed testdata/tree.py
var treeProgram string

// startTree starts testdata/tree.py as a server that refuses to run as user id 0.
func startTree(t *testing.T, b box, args ...string) talker {
	t.Helper()
	return startTalker(t, b.Host, clusters.Command{
		Program: clusterkit.Need(t, "/usr/bin/python3"), Args: append([]string{"-c", treeProgram}, args...), OtherUser: true,
	})
}

// wantTree asks a tree of so many processes what they see.
func (talk talker) wantTree(ask string, processes int, wall, mono time.Duration) {
	talk.t.Helper()
	seen := strings.Fields(talk.ask(ask))
	if len(seen) != 2*processes {
		talk.t.Fatalf("%d readings, want those of %d processes", len(seen), processes)
	}
	for i, reading := range seen {
		ns, err := strconv.ParseInt(reading, 10, 64)
		if err != nil {
			talk.t.Fatal(err)
		}
		want := wall
		if i%2 == 1 {
			want = mono
		}
		if !testkit.Near(time.Duration(ns), want) {
			talk.t.Errorf("clock %d of process %d of the tree is off by %v, want %v", i%2, i/2, time.Duration(ns), want)
		}
	}
}

func TestEveryProcessOfATreeSeesTheClockThatWasAskedFor(t *testing.T) {
	onHosts(t, func(t *testing.T, site clusters.Site) {
		b := newBox(t, site, "n1")
		tree := startTree(t, b)
		tree.wantTree("?", 4, 0, 0)
		b.do(t, agent.ClockSet, skew(tree, 90*time.Second, 0, time.Minute), nil)
		tree.wantTree("?", 4, 90*time.Second, 0)
		tree.wantTree("fork", 5, 90*time.Second, 0)
		b.do(t, agent.ClockReset, clusters.TargetOf(tree), nil)
		tree.wantTree("?", 5, 0, 0)
		for jumps := range 2 {
			b.do(t, agent.ClockSet, skew(tree, 0, 2*time.Second, time.Minute), nil)
			tree.wantTree("fork", 6+jumps, 0, time.Duration(jumps+1)*2*time.Second)
		}
		b.do(t, agent.ClockReset, clusters.TargetOf(tree), nil)
		tree.wantTree("fork", 8, 0, 4*time.Second)
		b.do(t, agent.ClockSet, skew(tree, time.Hour, 0, time.Minute), nil)
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
		tree.wantTree("?", 8, 0, 4*time.Second)
	})
}

// Children come and go while their tree's clock is changed: none may keep the clock that its parent had before, and none
// that inherited a jump may jump again.
func TestNoChildOfARestlessTreeIsMissed(t *testing.T) {
	onHosts(t, func(t *testing.T, site clusters.Site) {
		b := newBox(t, site, "n1")
		tree := startTree(t, b, "restless")
		const jump = 2 * time.Second
		for round := range 40 {
			mono := time.Duration(round+1) * jump
			b.do(t, agent.ClockSet, skew(tree, 90*time.Second, jump, time.Minute), nil)
			wantThroughout(t, tree, func(s vdso.State) bool {
				return s.Wall == vdso.Shift{Offset: 90 * time.Second} && s.Monotonic == vdso.Shift{Offset: mono}
			})
			b.do(t, agent.ClockReset, clusters.TargetOf(tree), nil)
			wantThroughout(t, tree, func(s vdso.State) bool { return s.Healed() && s.Monotonic.Offset == mono })
			if t.Failed() {
				return
			}
		}
	})
}

// wantThroughout reads the clocks of all processes of a tree.
func wantThroughout(t *testing.T, tree talker, want func(vdso.State) bool) {
	t.Helper()
	pids, err := procs.Descent(tree.PID())()
	if err != nil || len(pids) == 0 {
		t.Fatalf("processes %v: %v", pids, err)
	}
	for _, pid := range pids {
		state, err := vdso.Read(pid)
		if errors.Is(err, os.ErrProcessDone) {
			continue
		}
		if err != nil || !want(state) {
			t.Errorf("process %d of %d sees %+v: %v", pid, len(pids), state, err)
		}
	}
}
