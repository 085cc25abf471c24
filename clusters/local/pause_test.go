package local

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"lockcheck/clusters"
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
			threads, err := groupThreads(p.PID())
			if err != nil || len(threads) == 0 {
				t.Fatalf("threads: %v, %v", threads, err)
			}
			for _, thread := range threads {
				if thread.state != 'T' {
					t.Errorf("thread %d is %c", thread.tid, thread.state)
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
		if state, err := readState(child, child); err != nil || state != 'T' {
			t.Errorf("the forked process is %c, %v", state, err)
		}
	})
}

// A process that does not stop must not be called stopped: the only such one at hand is one in another group.
func TestAStopThatIsNotSeenIsAnError(t *testing.T) {
	everywhere(t, func(t *testing.T, s clusters.Site) {
		p := start(t, newHost(t, s, "n1"), "sleep").(*process)
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		err := p.settle(ctx, "stopped", threadState.halted)
		want := fmt.Sprintf("sleep on host n1 (pid %d): thread ", p.PID())
		if err == nil || !strings.HasPrefix(err.Error(), want) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
	})
}

func TestANameInProcCannotConfuseTheReader(t *testing.T) {
	if err := os.WriteFile("/proc/self/comm", []byte(") Z 1 ("), 0); err != nil {
		t.Skip(err)
	}
	got, err := readStat(os.Getpid())
	if err != nil || got.ppid != os.Getppid() || got.state.over() {
		t.Errorf("got %+v, %v", got, err)
	}
}
