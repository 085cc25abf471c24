//go:build linux

package local

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"time"

	"lockcheck/clusters"
	"lockcheck/clusters/hosttest"
	"lockcheck/clusters/procs"
)

func TestAPausedProcessConnectsButDoesNotAnswer(t *testing.T) {
	everywhere(t, func(t *testing.T, s clusters.Site) {
		h := hosttest.Host(t, s, "n1")
		addr := h.Addr() + ":2379"
		p := hosttest.Start(t, h, "echo", addr)
		hosttest.ReadLine(t, p.Stdout())
		hosttest.Answers(t, s, addr)
		median := hosttest.Pauses(t, s, p, addr, func() {
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
		p := hosttest.Start(t, hosttest.Host(t, s, "n1"), "sleep")
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
		p := hosttest.Start(t, hosttest.Host(t, s, "n1"), "sleep")
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
		p := hosttest.Start(t, hosttest.Host(t, s, "n1"), "fork")
		child, err := strconv.Atoi(hosttest.ReadLine(t, p.Stdout()))
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
