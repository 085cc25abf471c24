//go:build linux && e2e

package docker

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"lockcheck/clusters"
	"lockcheck/clusters/testkit"
)

func TestHostsReachEachOtherAndTheHarnessReachesThem(t *testing.T) {
	t.Parallel()
	s := openSite(t, "")
	begun := time.Now()
	a, b := testkit.Host(t, s, "n1"), testkit.Host(t, s, "c1")
	addr := a.Addr() + ":2379"
	if got := testkit.ReadLine(t, testkit.Start(t, a, "echo", addr).Stdout()); got != "ready" {
		t.Fatalf("echo said %q", got)
	}
	t.Logf("two hosts and a server in %v", time.Since(begun))
	testkit.AnswersAtLast(t, s, addr)
	asking := testkit.Start(t, b, "ask", addr)
	<-asking.Done()
	if err := asking.Err(); err != nil {
		t.Errorf("from the other host: %v", err)
	}
	if _, err := s.Dial(t.Context(), "tcp", a.Addr()+":1"); err == nil || !strings.Contains(err.Error(), "refused") {
		t.Errorf("a port without a listener: %v", err)
	}
	if err := testkit.Ask(t.Context(), dialHere, addr, time.Second); err == nil {
		t.Log("this machine reaches the run's network by itself, too") // true of an engine on this machine
	}
}

func TestPipesLogsAndExitCode(t *testing.T) {
	t.Parallel()
	s := openSite(t, "")
	h := testkit.Host(t, s, "c1")
	testkit.PipesAndExitCode(t, h)
	r, err := h.Start(t.Context(), clusters.Command{Args: []string{"show", "/proc/self/status"}, Env: []string{"MINE=1"}, Log: "env"})
	if err != nil {
		t.Fatal(err)
	}
	<-r.Done()
	log, err := os.ReadFile(r.(clusters.Logged).LogPath())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"MINE=1\n", "HOME=/tmp\n", "CapEff:\t0000000000000000\n", "CapPrm:\t0000000000000000\n", "NoNewPrivs:\t1\n"} {
		if !strings.Contains(string(log), want) {
			t.Errorf("no %q in\n%s", want, log)
		}
	}
}

func TestAPausedClientConnectsButDoesNotAnswer(t *testing.T) {
	t.Parallel()
	s := openSite(t, "")
	h := testkit.Host(t, s, "n1")
	addr := h.Addr() + ":2379"
	p := testkit.Start(t, h, "echo", addr)
	testkit.ReadLine(t, p.Stdout())
	pausesAndResumes(t, s, p, addr)
}

// pausesAndResumes sees that what every provider has to do to a server is done, once it answers.
func pausesAndResumes(t *testing.T, s clusters.Site, p clusters.Process, addr string) {
	t.Helper()
	testkit.AnswersAtLast(t, s, addr)
	t.Logf("a pause or its end took %v", testkit.Pauses(t, s, p, addr, func() {}))
}

// After Pause, nothing arrives any more: everything that the process had printed has arrived before. That is what lets
// the harness say what a stopped client believed (rule R4).
func TestWhatAPausedProcessPrintedHasArrived(t *testing.T) {
	t.Parallel()
	s := openSite(t, "")
	silentWhilePaused(t, testkit.Start(t, testkit.Host(t, s, "c1"), "chatter"))
}

// silentWhilePaused pauses a process that prints without an end.
func silentWhilePaused(t *testing.T, p clusters.Process) {
	t.Helper()
	total := 0
	buffer := make([]byte, 1<<20)
	for round := range 20 {
		_ = p.Stdout().SetReadDeadline(time.Now().Add(30 * time.Millisecond))
		for {
			n, err := p.Stdout().Read(buffer)
			total += n
			if err != nil {
				break
			}
		}
		// Read on, as the harness does: a pause must not need a pipe that is empty, nor wait for one that is full.
		_ = p.Stdout().SetReadDeadline(time.Time{})
		paused := make(chan error, 1)
		go func() { paused <- p.(clusters.Pauser).Pause(t.Context()) }()
		for done := false; !done; {
			_ = p.Stdout().SetReadDeadline(time.Now().Add(time.Millisecond))
			n, _ := p.Stdout().Read(buffer)
			total += n
			select {
			case err := <-paused:
				if err != nil {
					t.Fatal(err)
				}
				done = true
			default:
			}
		}
		before := waiting(t, p.Stdout())
		time.Sleep(30 * time.Millisecond)
		if after := waiting(t, p.Stdout()); after != before {
			t.Fatalf("round %d: %d bytes arrived after the pause", round, after-before)
		}
		if err := p.(clusters.Pauser).Resume(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if total == 0 {
		t.Error("nothing was printed at all")
	}
}

func waiting(t *testing.T, pipe *os.File) (n int) {
	t.Helper()
	raw, err := pipe.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var asked error
	if err := raw.Control(func(fd uintptr) { n, asked = unix.IoctlGetInt(int(fd), unix.TIOCINQ) }); err != nil || asked != nil {
		t.Fatal(err, asked)
	}
	return n
}

func TestTheDead(t *testing.T) {
	t.Parallel()
	s := openSite(t, "")
	h := testkit.Host(t, s, "n1")
	p := testkit.Start(t, h, "sleep")
	if err := p.(clusters.Pauser).Pause(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range 2 { // a paused one, and one that is gone
		if err := p.Kill(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if p.Err() == nil || p.Err().Error() != "signal: killed" {
		t.Errorf("a killed process ended with %v", p.Err())
	}
	if err := p.(clusters.Pauser).Pause(t.Context()); err == nil || !strings.Contains(err.Error(), "sleep on host n1 has ended: signal: killed") {
		t.Errorf("pausing it: %v", err)
	}
}

func TestWhatAProcessForksIsStoppedAndEndsWithIt(t *testing.T) {
	t.Parallel()
	s := openSite(t, "")
	h := testkit.Host(t, s, "n1")
	p := testkit.Start(t, h, "fork")
	testkit.ReadLine(t, p.Stdout())
	if err := p.(clusters.Pauser).Pause(t.Context()); err != nil {
		t.Fatal(err)
	}
	all := processesSeen(t, h, p)
	if len(all) != 2 {
		t.Fatalf("processes: %+v, want the one that was started and the one it forked", all)
	}
	for _, process := range all {
		for _, thread := range process.Threads {
			if !thread.State.Halted() {
				t.Errorf("thread %+v is not stopped", thread)
			}
		}
	}
}

func TestWhatCannotBeIsRefused(t *testing.T) {
	t.Parallel()
	s := openSite(t, "")
	h := testkit.RefusesNames(t, s, relayName)
	_, err := h.Start(t.Context(), clusters.Command{Program: "/usr/bin/my-client", Log: "c1"})
	if !errors.Is(err, clusters.ErrUsage) || !strings.Contains(fmt.Sprint(err), "/usr/bin/my-client is a program of this machine") {
		t.Errorf("a program of this machine: %v", err)
	}
	if _, err := s.Server(t.Context()); !errors.Is(err, clusters.ErrUnavailable) {
		t.Errorf("a server of a backend without an image: %v", err)
	}
	if _, err := os.Stat(filepath.Join(s.logs, "n1")); err != nil && !os.IsNotExist(err) {
		t.Error(err)
	}
}
