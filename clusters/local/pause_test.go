package local

import (
	"context"
	"errors"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"lockcheck/clusters"
	"lockcheck/nemesis/agent/procs"
)

func TestAPausedProcessConnectsButDoesNotAnswer(t *testing.T) {
	everywhere(t, func(t *testing.T, s clusters.Site) {
		h := newHost(t, s, "n1")
		addr := h.Addr() + ":2379"
		p := start(t, h, "echo", addr)
		readLine(t, p.Stdout())
		says(t, addr)
		pauser := p.(clusters.Pauser)
		for range 20 {
			begun := time.Now()
			if err := pauser.Pause(t.Context()); err != nil {
				t.Fatal(err)
			}
			paused := time.Since(begun)
			threads, err := procs.Threads(procs.Descent(p.PID()))
			if err != nil || len(threads) == 0 {
				t.Fatalf("threads: %v, %v", threads, err)
			}
			for _, thread := range threads {
				if thread.State != 'T' {
					t.Errorf("thread %d is %c", thread.Thread, thread.State)
				}
			}
			err = ask(addr, 20*time.Millisecond)
			var timeout net.Error
			if !errors.As(err, &timeout) || !timeout.Timeout() || strings.Contains(err.Error(), "connect") {
				t.Errorf("a paused server: %v", err)
			}
			begun = time.Now()
			if err := pauser.Resume(t.Context()); err != nil {
				t.Fatal(err)
			}
			if i := time.Since(begun); i > time.Second || paused > time.Second {
				t.Errorf("paused in %v, resumed in %v", paused, i)
			}
			says(t, addr)
		}
	})
}

func TestPausingTheDeadIsAnError(t *testing.T) {
	everywhere(t, func(t *testing.T, s clusters.Site) {
		p := start(t, newHost(t, s, "n1"), "sleep")
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
		p := start(t, newHost(t, s, "n1"), "sleep")
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
		p := start(t, newHost(t, s, "n1"), "fork")
		child, err := strconv.Atoi(readLine(t, p.Stdout()))
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
