//go:build linux

package local

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"lockcheck/clusters"
	"lockcheck/clusters/provider/procs"
	"lockcheck/clusters/testkit"
)

func TestHostsReachEachOtherAndTheHarnessReachesThem(t *testing.T) {
	everywhere(t, func(t *testing.T, s clusters.Site) {
		begun := time.Now()
		for _, name := range []string{"n1", "n2", "n3"} {
			h := testkit.Host(t, s, name)
			p := testkit.Start(t, h, "echo", h.Addr()+":2379")
			if got := testkit.ReadLine(t, p.Stdout()); got != "ready" {
				t.Fatalf("echo said %q", got)
			}
			testkit.Answers(t, s, h.Addr()+":2379")
		}
		t.Logf("three hosts in %v", time.Since(begun))
	})
}

func TestAHostKeepsItsNamespaceAcrossProcesses(t *testing.T) {
	everywhere(t, func(t *testing.T, s clusters.Site) {
		isolated, _ := s.Isolated()
		mine, err := os.Readlink("/proc/self/ns/net")
		if err != nil {
			t.Fatal(err)
		}
		a, b := testkit.Host(t, s, "a"), testkit.Host(t, s, "b")
		first := testkit.ReadLine(t, testkit.Start(t, a, "net-ns").Stdout())
		again := testkit.ReadLine(t, testkit.Start(t, a, "net-ns").Stdout())
		other := testkit.ReadLine(t, testkit.Start(t, b, "net-ns").Stdout())
		if first != again {
			t.Errorf("the second process on a host is in %s, the first was in %s", again, first)
		}
		if distinct := first != other && first != mine; distinct != isolated {
			t.Errorf("hosts in %s and %s, harness in %s, but isolated is %v", first, other, mine, isolated)
		}
		if a.Addr() == b.Addr() {
			t.Errorf("two hosts have the address %s", a.Addr())
		}
	})
}

func TestPipesLogsAndExitCode(t *testing.T) {
	everywhere(t, func(t *testing.T, s clusters.Site) {
		h := testkit.Host(t, s, "c1")
		testkit.PipesAndExitCode(t, h)
		r, err := h.Start(t.Context(), clusters.Command{Args: []string{"print-env"}, Env: []string{"MINE=1"}, Log: "env"})
		if err != nil {
			t.Fatal(err)
		}
		<-r.Done()
		log, err := os.ReadFile(filepath.Join(s.(*site).logs, "c1", "env.log"))
		if err != nil {
			t.Fatal(err)
		}
		if text := string(log); !strings.Contains(text, "MINE=1\n") || strings.Contains(text, "LOCKCHECK_TEST_ISOLATED") {
			t.Errorf("environment:\n%s", text)
		}
	})
}

func TestCloseLeavesNothing(t *testing.T) {
	everywhere(t, func(t *testing.T, s clusters.Site) {
		h := testkit.Host(t, s, "n1")
		dir, err := h.DataDir("data")
		if err != nil {
			t.Fatal(err)
		}
		sleeper, forker := testkit.Start(t, h, "sleep"), testkit.Start(t, h, "fork")
		orphan := testkit.ReadLine(t, forker.Stdout())
		if err := sleeper.(clusters.Pauser).Pause(t.Context()); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
		for _, p := range []clusters.Process{sleeper, forker} {
			if !p.(*process).ended() {
				t.Errorf("%s is alive", p.(*process).what)
			}
		}
		if left := marked(s.(*site).mark); len(left) > 0 {
			t.Errorf("processes %v are left (the forked one was %s)", left, orphan)
		}
		if _, err := os.Stat(dir); !os.IsNotExist(err) {
			t.Errorf("data directory: %v", err)
		}
		if links, err := net.Interfaces(); err != nil || (entered.inside && len(links) != 1) {
			t.Errorf("network interfaces left: %v, %v", links, err)
		}
		if b, ok := s.(*site).net.(*bridge); ok && sites.taken[b.site] {
			t.Errorf("its number, %d, is still taken", b.site)
		}
		if _, err := s.Host(t.Context(), "n2"); !errors.Is(err, errClosed) {
			t.Errorf("a host on a closed site: %v", err)
		}
	})
}

func TestWhatAProcessForksEndsWithIt(t *testing.T) {
	everywhere(t, func(t *testing.T, s clusters.Site) {
		p := testkit.Start(t, testkit.Host(t, s, "n1"), "fork")
		testkit.ReadLine(t, p.Stdout())
		wantMarked(t, s.(*site).mark, 2)
		if err := p.Kill(t.Context()); err != nil {
			t.Fatal(err)
		}
		wantMarked(t, s.(*site).mark, 0)
	})
}

// wantMarked waits until that many processes of a site can be seen: one that is just being executed cannot.
func wantMarked(t *testing.T, mark string, want int) {
	t.Helper()
	for deadline := time.Now().Add(vanishTimeout); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if len(marked(mark)) == want {
			return
		}
	}
	t.Fatalf("processes of the site: %v, want %d", marked(mark), want)
}

func TestCloseEndsWhatLeftItsProcess(t *testing.T) {
	everywhere(t, func(t *testing.T, s clusters.Site) {
		p := testkit.Start(t, testkit.Host(t, s, "n1"), "abandon")
		orphan := testkit.ReadLine(t, p.Stdout())
		<-p.Done()
		wantMarked(t, s.(*site).mark, 1)
		if left := marked(s.(*site).mark); strconv.Itoa(left[0]) != orphan {
			t.Fatalf("%v are alive, want %s", left, orphan)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if left := marked(s.(*site).mark); len(left) > 0 {
			t.Errorf("left: %v", left)
		}
	})
}

func TestOrphansDoNotStayZombies(t *testing.T) {
	everywhere(t, func(t *testing.T, s clusters.Site) {
		if isolated, _ := s.Isolated(); !isolated {
			return // orphans are given to the machine's own init
		}
		p := testkit.Start(t, testkit.Host(t, s, "n1"), "abandon")
		orphan, err := strconv.Atoi(testkit.ReadLine(t, p.Stdout()))
		if err != nil {
			t.Fatal(err)
		}
		<-p.Done()
		if got, err := procs.ReadStat(orphan); err != nil || got.Parent != os.Getpid() {
			t.Fatalf("the orphan: %+v, %v", got, err)
		}
		if err := syscall.Kill(orphan, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		for range 500 {
			if _, err := procs.ReadStat(orphan); err != nil {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
		t.Error("it is a zombie after 5 s")
	})
}

func TestDefectiveNamesAreRefused(t *testing.T) {
	everywhere(t, func(t *testing.T, s clusters.Site) {
		h := testkit.RefusesNames(t, s)
		_, err := h.Start(t.Context(), clusters.Command{Program: "no-such-program", Log: "x"})
		if err == nil || !strings.Contains(err.Error(), "start x on host n1") {
			t.Errorf("a program that is not there: %v", err)
		}
	})
}
