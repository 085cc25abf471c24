//go:build linux

package local

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"time"

	"lockcheck/clusters"
	"lockcheck/clusters/provider/procs"
	"lockcheck/clusters/testkit"
)

func TestAPausedProcessConnectsButDoesNotAnswer(t *testing.T) {
	everywhere(t, func(t *testing.T, s clusters.Site) {
		h := testkit.Host(t, s, "n1")
		addr := h.Addr() + ":2379"
		p := testkit.Start(t, h, "echo", addr)
		testkit.ReadLine(t, p.Stdout())
		testkit.Answers(t, s, addr)
		median := testkit.Pauses(t, s, p, addr, func() {
			threads, err := procs.Threads(procs.Descent(p.PID()))
			if err != nil || len(threads) == 0 {
				t.Fatalf("threads: %v, %v", threads, err)
			}
			for _, thread := range threads {
				if thread.State != 'T' {
					t.Errorf("thread %d is %c", thread.Thread, thread.State)
				}
			}
		})
		if median > time.Second {
			t.Errorf("a pause or its end took %v", median)
		}
	})
}

func TestPausingTheDeadIsAnError(t *testing.T) {
	everywhere(t, func(t *testing.T, s clusters.Site) {
		p := testkit.Start(t, testkit.Host(t, s, "n1"), "sleep")
		if err := p.Kill(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := p.Kill(t.Context()); err != nil {
			t.Errorf("a second kill: %v", err)
		}
		for what, f := range map[string]func(context.Context) error{
			"pause": p.(clusters.Pauser).Pause, "resume": p.(clusters.Pauser).Resume,
		} {
			if err := f(t.Context()); err == nil || !strings.Contains(err.Error(), "sleep on host n1") || !strings.Contains(err.Error(), "has ended: signal: killed") {
				t.Errorf("%s: %v", what, err)
			}
		}
	})
}

func TestAPausedProcessCanBeKilled(t *testing.T) {
	everywhere(t, func(t *testing.T, s clusters.Site) {
		p := testkit.Start(t, testkit.Host(t, s, "n1"), "sleep")
		if err := p.(clusters.Pauser).Pause(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := p.Kill(t.Context()); err != nil {
			t.Fatal(err)
		}
		if !p.(*process).ended() {
			t.Error("alive")
		}
	})
}

func TestAPauseStopsWhatTheProcessForked(t *testing.T) {
	everywhere(t, func(t *testing.T, s clusters.Site) {
		p := testkit.Start(t, testkit.Host(t, s, "n1"), "fork")
		child, err := strconv.Atoi(testkit.ReadLine(t, p.Stdout()))
		if err != nil {
			t.Fatal(err)
		}
		if err := p.(clusters.Pauser).Pause(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got, err := procs.ReadStat(child); err != nil || got.State != 'T' {
			t.Errorf("the forked process is %c, %v", got.State, err)
		}
	})
}
