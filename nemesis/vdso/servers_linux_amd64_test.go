//go:build e2e

package vdso

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"lockcheck/clusters/testkit/needs"
	"lockcheck/nemesis/testkit"
)

// redis is a server on a socket of its own, and a connection to it.
type redis struct {
	*process
	socket string
	conn   net.Conn
	lines  *bufio.Reader
}

func startRedis(t *testing.T) *redis {
	t.Helper()
	dir := t.TempDir()
	r := &redis{socket: filepath.Join(dir, "socket")}
	r.process = start(t, exec.Command(need(t, "redis-server"), "--port", "0", "--unixsocket", r.socket, "--dir", dir, "--save", "", "--logfile", "log"))
	r.conn = testkit.Dial(t, r.socket)
	r.lines = bufio.NewReader(r.conn)
	t.Cleanup(func() { r.conn.Close() })
	return r
}

// do sends a command and returns its answer, the lengths of strings left out.
func (r *redis) do(command ...string) string {
	r.t.Helper()
	_ = r.conn.SetDeadline(time.Now().Add(10 * time.Second))
	if _, err := fmt.Fprintln(r.conn, strings.Join(command, " ")); err != nil {
		r.t.Fatal(err)
	}
	line, err := r.lines.ReadString('\n')
	if err != nil {
		r.t.Fatal(err)
	}
	line = strings.TrimSpace(line)
	lines := 0
	if line[0] == '*' {
		lines, _ = strconv.Atoi(line[1:])
		lines *= 2
		line = ""
	} else if line[0] == '$' && line != "$-1" {
		lines, line = 1, ""
	}
	for range lines {
		more, err := r.lines.ReadString('\n')
		if err != nil {
			r.t.Fatal(err)
		}
		if more = strings.TrimSpace(more); more[0] != '$' {
			line = strings.TrimSpace(line + " " + more)
		}
	}
	return line
}

// wall is how far off the server sees its clock, by TIME.
func (r *redis) wall() time.Duration { return testkit.Redis(r.t, r.socket) }

func (r *redis) want(command string, want string) {
	r.t.Helper()
	if got := r.do(strings.Fields(command)...); got != want {
		r.t.Errorf("%s: %q, want %q", command, got, want)
	}
}

func TestRedisExpiresKeysByTheSkewedClock(t *testing.T) {
	r := startRedis(t)
	r.want("SET lock me PX 60000", "+OK")
	r.want("GET lock", "me")
	apply(t, r.pid(), Skew{Wall: Shift{Offset: 90 * time.Second}})
	if off := r.wall(); !testkit.Near(off, 90*time.Second) {
		t.Errorf("TIME is off by %v, want 1m30s", off)
	}
	r.want("GET lock", "$-1")

	heal(t, r.pid())
	if off := r.wall(); !testkit.Near(off, 0) {
		t.Errorf("TIME is off by %v after healing", off)
	}

	// And a key that lives on while the clock is behind: it ends in 100 ms by the true clock, and 90 s later by the server's.
	apply(t, r.pid(), Skew{Wall: Shift{Offset: -90 * time.Second}})
	if off := r.wall(); !testkit.Near(off, -90*time.Second) {
		t.Errorf("TIME is off by %v, want -1m30s", off)
	}
	end := time.Now().Add(100 * time.Millisecond)
	r.want(fmt.Sprintf("SET lock me PXAT %d", end.UnixMilli()), "+OK")
	time.Sleep(time.Until(end.Add(200 * time.Millisecond)))
	r.want("GET lock", "me")
	heal(t, r.pid())
	r.want("GET lock", "$-1")
}

func TestRedisUnderLoadSurvivesChanges(t *testing.T) {
	benchmark := need(t, "redis-benchmark")
	r := startRedis(t)
	load := exec.Command(benchmark, "-s", r.socket, "-c", "8", "-l", "-q", "-t", "set,get")
	if err := load.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = load.Process.Kill(); _ = load.Wait() }()
	patchManyTimes(t, r.pid())
	heal(t, r.pid())
	if off := r.wall(); !testkit.Near(off, 0) {
		t.Errorf("TIME is off by %v after healing", off)
	}
	if size := r.do("DBSIZE"); size == ":0" {
		t.Error("the load did nothing")
	}
}

func startJava(t *testing.T, threads int) *process {
	t.Helper()
	p := start(t, exec.Command(need(t, "java"), "-XX:TieredStopAtLevel=1", "testdata/Eyes.java", strconv.Itoa(threads)))
	p.read()
	return p
}

// seesJava is how far off a JVM sees its wall clock, in whole milliseconds.
func (p *process) seesJava() time.Duration {
	p.t.Helper()
	return testkit.Asked(func() int64 {
		answer := p.ask("?")
		var millis, nano int64
		if _, err := fmt.Sscan(answer, &millis, &nano); err != nil {
			p.t.Fatal(answer, err)
		}
		return millis
	})
}

func TestAJVMsWallClockIsSkewedAndItsMonotonicClockRefused(t *testing.T) {
	p := startJava(t, 0)
	for name, shift := range map[string]Shift{"jump": {Offset: time.Second}, "drift": {Drift: 0.05}} {
		_, err := Apply(p.pid(), Skew{Wall: Shift{Offset: time.Minute}, Monotonic: shift, Expiry: time.Minute})
		if !errors.Is(err, ErrUnsupported) || !strings.Contains(err.Error(), "JVM") || !strings.Contains(err.Error(), "deadlines") {
			t.Errorf("monotonic %s: %v", name, err)
		}
	}
	if s := state(t, p.pid()); s != (State{}) {
		t.Errorf("a refused skew changed it: %+v", s)
	}
	apply(t, p.pid(), Skew{Wall: Shift{Offset: time.Hour}})
	if off := p.seesJava(); !testkit.Near(off, time.Hour) {
		t.Errorf("it sees its wall clock off by %v, want 1h", off)
	}
	heal(t, p.pid())
	if off := p.seesJava(); !testkit.Near(off, 0) {
		t.Errorf("it sees its wall clock off by %v after healing", off)
	}
}

// need skips a test for want of a program, or fails it where everything has to be there.
func need(t *testing.T, program string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		needs.Skip(t, err)
	}
	return path
}

// patchManyTimes changes a process's wall clock, half of the time from its original code: the functions' first bytes
// are put back in between.
func patchManyTimes(t *testing.T, pid int) {
	t.Helper()
	for i := range changes {
		if i%2 == 1 {
			unpatch(t, pid)
		}
		apply(t, pid, Skew{Wall: Shift{Offset: time.Duration(i) * time.Second, Drift: 0.05}})
	}
}

func TestABusyJVMSurvivesChanges(t *testing.T) {
	p := startJava(t, 4)
	patchManyTimes(t, p.pid())
	heal(t, p.pid())
	if off := p.seesJava(); !testkit.Near(off, 0) {
		t.Errorf("it sees its wall clock off by %v after healing", off)
	}
}
