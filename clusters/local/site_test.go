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
	"lockcheck/nemesis/agent/procs"
)

func TestHostsReachEachOtherAndTheHarnessReachesThem(t *testing.T) {
	everywhere(t, func(t *testing.T, s clusters.Site) {
		begun := time.Now()
		for _, name := range []string{"n1", "n2", "n3"} {
			h := newHost(t, s, name)
			p := start(t, h, "echo", h.Addr()+":2379")
			if got := readLine(t, p.Stdout()); got != "ready" {
				t.Fatalf("echo said %q", got)
			}
			says(t, h.Addr()+":2379")
		}
		t.Logf("three hosts in %v", time.Since(begun))
	})
}

// says expects an echo server's answer.
func says(t *testing.T, addr string) {
	t.Helper()
	if err := ask(addr, 5*time.Second); err != nil {
		t.Fatal(err)
	}
}

// ask connects, which the kernel does on its own, and waits for the server's answer.
func ask(addr string, within time.Duration) error {
	c, err := net.DialTimeout("tcp", addr, 5*time.Second)
	if err != nil {
		return errors.Join(errors.New("does not even connect"), err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(within))
	if _, err := c.Write([]byte("hello")); err != nil {
		return err
	}
	_, err = c.Read(make([]byte, 5))
	return err
}

func TestAHostKeepsItsNamespaceAcrossProcesses(t *testing.T) {
	everywhere(t, func(t *testing.T, s clusters.Site) {
		isolated, _ := s.Isolated()
		mine, err := os.Readlink("/proc/self/ns/net")
		if err != nil {
			t.Fatal(err)
		}
		a, b := newHost(t, s, "a"), newHost(t, s, "b")
		first := readLine(t, start(t, a, "net-ns").Stdout())
		again := readLine(t, start(t, a, "net-ns").Stdout())
		other := readLine(t, start(t, b, "net-ns").Stdout())
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
		h := newHost(t, s, "c1")
		p := start(t, h, "talk")
		if _, err := p.Stdin().WriteString("hello\n"); err != nil {
			t.Fatal(err)
		}
		if got := readLine(t, p.Stdout()); got != "hello" {
			t.Errorf("got %q", got)
		}
		p.Stdin().Close()
		<-p.Done()
		if p.Err() != nil {
			t.Errorf("end of input: %v", p.Err())
		}
		q := start(t, h, "exit-code")
		<-q.Done()
		if q.Err() == nil || q.Err().Error() != "exit status 3" {
			t.Errorf("exit code 3 became %v", q.Err())
		}
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
		h := newHost(t, s, "n1")
		dir, err := h.DataDir("data")
		if err != nil {
			t.Fatal(err)
		}
		sleeper, forker := start(t, h, "sleep"), start(t, h, "fork")
		orphan := readLine(t, forker.Stdout())
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
		if _, err := s.Host(t.Context(), "n2"); !errors.Is(err, errClosed) {
			t.Errorf("a host on a closed site: %v", err)
		}
	})
}

func TestWhatAProcessForksEndsWithIt(t *testing.T) {
	everywhere(t, func(t *testing.T, s clusters.Site) {
		p := start(t, newHost(t, s, "n1"), "fork")
		readLine(t, p.Stdout())
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
	for deadline := time.Now().Add(gone5); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if len(marked(mark)) == want {
			return
		}
	}
	t.Fatalf("processes of the site: %v, want %d", marked(mark), want)
}

func TestCloseEndsWhatLeftItsProcess(t *testing.T) {
	everywhere(t, func(t *testing.T, s clusters.Site) {
		p := start(t, newHost(t, s, "n1"), "abandon")
		orphan := readLine(t, p.Stdout())
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
		p := start(t, newHost(t, s, "n1"), "abandon")
		orphan, err := strconv.Atoi(readLine(t, p.Stdout()))
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
		for _, name := range []string{"", "../n1", "N1", "n 1"} {
			if _, err := s.Host(t.Context(), name); err == nil {
				t.Errorf("host %q was made", name)
			}
		}
		h := newHost(t, s, "n1")
		if _, err := s.Host(t.Context(), "n1"); err == nil {
			t.Error("a second host n1 was made")
		}
		if _, err := h.Start(t.Context(), clusters.Command{Log: "../x"}); err == nil {
			t.Error("a log outside its directory was opened")
		}
		_, err := h.Start(t.Context(), clusters.Command{Program: "no-such-program", Log: "x"})
		if err == nil || !strings.Contains(err.Error(), "start x on host n1") {
			t.Errorf("a program that is not there: %v", err)
		}
	})
}
