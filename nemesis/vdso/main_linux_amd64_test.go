package vdso

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"lockcheck/nemesis/testkit"
)

// helpers are what the test binary does when it is started as a target, or as another process that changes one.
var helpers = map[string]func(args []string) error{
	"clock":       testkit.Clock,
	"busy":        busy,
	"sleep":       func([]string) error { fmt.Println("ready"); _, err := io.Copy(io.Discard, os.Stdin); return err },
	"signals":     signals,
	"churn":       churn,
	"hours":       hours,
	"nothing":     func([]string) error { return nil },
	"hold":        hold,
	"apply":       applyElsewhere,
	"apply-child": applyChild,
}

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && !strings.HasPrefix(os.Args[1], "-") {
		if err := helpers[os.Args[1]](os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// process is a target, or a helper, that is asked and answers in lines.
type process struct {
	t     *testing.T
	cmd   *exec.Cmd
	stdin io.WriteCloser
	lines *bufio.Reader
}

// start starts a command that ends with the test, and with its standard input.
func start(t *testing.T, cmd *exec.Cmd) *process {
	t.Helper()
	p := &process{t: t, cmd: cmd}
	var err error
	if p.stdin, err = cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p.lines = bufio.NewReader(stdout)
	t.Cleanup(p.end)
	return p
}

func (p *process) end() {
	_ = p.stdin.Close()
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}

func (p *process) pid() int { return p.cmd.Process.Pid }

func (p *process) read() string {
	p.t.Helper()
	line, err := p.lines.ReadString('\n')
	if err != nil {
		p.t.Fatalf("read a line of %s (pid %d): %v", p.cmd.Args, p.pid(), err)
	}
	return strings.TrimSpace(line)
}

func (p *process) ask(line string) string {
	p.t.Helper()
	if _, err := fmt.Fprintln(p.stdin, line); err != nil {
		p.t.Fatal(err)
	}
	return p.read()
}

// self starts the test binary again.
func self(args ...string) *exec.Cmd {
	path, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return exec.Command(path, args...)
}

func apply(t *testing.T, pid int, skew Skew) Report {
	t.Helper()
	if skew.Expiry == 0 {
		skew.Expiry = time.Hour
	}
	report, err := Apply(pid, skew)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func heal(t *testing.T, pid int) Report {
	t.Helper()
	report, err := Heal(pid)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func state(t *testing.T, pid int) State {
	t.Helper()
	s, err := Read(pid)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func startClock(t *testing.T) *process {
	t.Helper()
	p := start(t, self("clock"))
	p.read()
	return p
}

// sees asks a clock what it sees.
func (p *process) sees() (wall, mono time.Duration) {
	p.t.Helper()
	if _, err := fmt.Sscan(p.ask("?"), &wall, &mono); err != nil {
		p.t.Fatal(err)
	}
	return wall, mono
}

// busy reads the clock on many threads as fast as it can, and ends with an error when its monotonic clock goes back on
// any of them, or from one to another.
func busy([]string) error {
	var latest, readings atomic.Int64
	failed := make(chan error)
	start := time.Now()
	for range 16 {
		go func() {
			runtime.LockOSThread()
			for {
				before := latest.Load()
				now := int64(time.Since(start))
				if now < before {
					failed <- fmt.Errorf("the monotonic clock went back by %v", time.Duration(before-now))
					return
				}
				for before < now && !latest.CompareAndSwap(before, now) {
					before = latest.Load()
				}
				if readings.Add(1)%64 == 0 {
					time.Sleep(50 * time.Microsecond) // also in the kernel, waiting, at times
				}
			}
		}()
	}
	fmt.Println("ready")
	go func() {
		for in := bufio.NewScanner(os.Stdin); in.Scan(); {
			fmt.Println(readings.Load())
		}
		os.Exit(0)
	}()
	return <-failed
}

// applyElsewhere is another process that changes a target: PID and a wall-clock offset.
func applyElsewhere(args []string) error {
	var pid int
	var offset int64
	if _, err := fmt.Sscan(strings.Join(args, " "), &pid, &offset); err != nil {
		return err
	}
	report, err := Apply(pid, Skew{Wall: Shift{Offset: time.Duration(offset)}, Expiry: time.Minute})
	if err != nil {
		return err
	}
	fmt.Println(int64(report.Before.Wall.Offset), int64(report.After.Wall.Offset))
	return nil
}
