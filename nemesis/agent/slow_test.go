//go:build linux

package agent_test

import (
	"strings"
	"testing"
	"time"

	"lockcheck/clusters"
	"lockcheck/clusters/provider/procs"
	"lockcheck/clusters/testkit"
	"lockcheck/nemesis/agent"
)

// burner is two processes that want all of a processor each.
func burner(t *testing.T, on clusters.Host) clusters.Process {
	t.Helper()
	p, err := on.Start(t.Context(), clusters.Command{Program: "/bin/sh", Args: []string{"-c", "sh -c 'while :; do :; done' & while :; do :; done"}, Log: "burner"})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// stoppedThreads counts the threads of a process that are stopped.
func stoppedThreads(t *testing.T, p clusters.Process) (n int) {
	t.Helper()
	threads, err := procs.Threads(procs.Descent(p.PID()))
	if err != nil || len(threads) == 0 {
		t.Fatalf("threads: %v, %v", threads, err)
	}
	for _, thread := range threads {
		if thread.State == 'T' {
			n++
		}
	}
	return n
}

func TestProcessesGetTheirShareOfTheProcessor(t *testing.T) {
	onHosts(t, func(t *testing.T, site clusters.Site) {
		b := newBox(t, site, "n1")
		p := burner(t, b.Host)
		for _, share := range []float64{0.2, 0.5} {
			var begun, seen agent.SlowSeen
			b.do(t, agent.SlowBegin, agent.Slow{Target: clusters.TargetOf(p), Share: share}, &begun)
			time.Sleep(time.Second)
			b.do(t, agent.SlowEnd, clusters.TargetOf(p), &seen)
			t.Logf("share %v: first %+v, in all %+v", share, begun, seen)
			if begun.Turns < 1 || begun.Ran <= 0 || begun.Stopped <= 0 || seen.Turns < begun.Turns {
				t.Errorf("%d turns, then %d", begun.Turns, seen.Turns)
			}
			if seen.Share() > 1.2*share {
				t.Errorf("it ran for %.3f of the time, want %v", seen.Share(), share)
			}
			if most := 1.2 * 2 * share * float64(seen.Ran+seen.Stopped); seen.Processor <= 0 || float64(seen.Processor) > most {
				t.Errorf("two processes had %v of the processor in %v", seen.Processor, seen.Ran+seen.Stopped)
			}
			if n := stoppedThreads(t, p); n > 0 {
				t.Errorf("%d threads are still stopped", n)
			}
		}
	})
}

func TestASlowdownEndsWithItsAgent(t *testing.T) {
	onHosts(t, func(t *testing.T, site clusters.Site) {
		b := newBox(t, site, "n1")
		p := burner(t, b.Host)
		b.do(t, agent.SlowBegin, agent.Slow{Target: clusters.TargetOf(p), Share: 0.02}, nil)
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
		if n := stoppedThreads(t, p); n > 0 {
			t.Errorf("%d threads are still stopped", n)
		}
	})
}

func TestWhatCannotBeSlowed(t *testing.T) {
	onHosts(t, func(t *testing.T, site clusters.Site) {
		b := newBox(t, site, "n1")
		p := testkit.Start(t, b.Host, "burn")
		want := func(when, says string) {
			t.Helper()
			err := b.Do(t.Context(), agent.SlowBegin, agent.Slow{Target: clusters.TargetOf(p), Share: 0.1}, nil)
			if err == nil || !strings.Contains(err.Error(), says) {
				t.Errorf("%s: %v, want %q", when, err, says)
			}
		}
		if err := p.(clusters.Pauser).Pause(t.Context()); err != nil {
			t.Fatal(err)
		}
		want("paused by another fault", "stopped already")
		if n := stoppedThreads(t, p); n == 0 {
			t.Error("the refusal ended the pause")
		}
		if err := p.(clusters.Pauser).Resume(t.Context()); err != nil {
			t.Fatal(err)
		}
		b.do(t, agent.SlowBegin, agent.Slow{Target: clusters.TargetOf(p), Share: 0.1}, nil)
		want("slowed", "slowed already")
		if err := p.Kill(t.Context()); err != nil {
			t.Fatal(err)
		}
		b.do(t, agent.SlowEnd, clusters.TargetOf(p), nil) // its end was the slowdown's, too
		want("dead", "none of its processes is there")
	})
}
