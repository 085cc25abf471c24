package procs

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"lockcheck/clusters/testkit/needs"
)

// helpers are what the test binary does when it is started as a process to be stopped.
var helpers = map[string]func() error{
	"sleep": func() error { time.Sleep(time.Hour); return nil },
	"fork": func() error { // a child in a session of its own, which no signal to a group reaches
		cmd := exec.Command("/proc/self/exe", "sleep")
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
		if err := cmd.Start(); err != nil {
			return err
		}
		fmt.Println(cmd.Process.Pid)
		return cmd.Wait()
	},
	"multiply": multiply,
}

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && helpers[os.Args[1]] != nil {
		if err := helpers[os.Args[1]](); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// start starts a helper that ends with the test, and returns what it printed first.
func start(t *testing.T, what string, env ...string) (*exec.Cmd, string) {
	t.Helper()
	cmd := exec.Command("/proc/self/exe", what)
	cmd.Env = append(os.Environ(), env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	if what == "sleep" {
		return cmd, ""
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil && err != io.EOF {
		t.Fatal(err)
	}
	return cmd, strings.TrimSpace(line)
}

func states(t *testing.T, chosen Selection) string {
	t.Helper()
	threads, err := Threads(chosen)
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, thread := range threads {
		all.WriteByte(byte(thread.State))
	}
	return all.String()
}

func TestStopReachesWhatLeftItsGroup(t *testing.T) {
	cmd, printed := start(t, "fork")
	child, err := strconv.Atoi(printed)
	if err != nil {
		t.Fatal(err)
	}
	chosen := Descent(cmd.Process.Pid)
	for range 20 {
		if err := Stop(t.Context(), chosen); err != nil {
			t.Fatal(err)
		}
		for _, pid := range []int{cmd.Process.Pid, child} {
			if got := states(t, Only(pid)); got == "" || strings.Trim(got, "T") != "" {
				t.Errorf("threads of process %d are %q", pid, got)
			}
		}
		if err := Continue(t.Context(), chosen); err != nil {
			t.Fatal(err)
		}
		if got := states(t, chosen); strings.Contains(got, "T") {
			t.Errorf("after Continue: %q", got)
		}
	}
}

func TestKillLeavesZombiesAtMost(t *testing.T) {
	cmd, _ := start(t, "fork")
	chosen := Descent(cmd.Process.Pid)
	if err := Stop(t.Context(), chosen); err != nil { // a stopped process dies, too
		t.Fatal(err)
	}
	for range 2 {
		if err := Kill(t.Context(), chosen); err != nil {
			t.Fatal(err)
		}
		if got := states(t, chosen); strings.Trim(got, "ZX") != "" {
			t.Errorf("after Kill: %q", got)
		}
	}
	for what, do := range map[string]func(context.Context, Selection) error{"stop": Stop, "continue": Continue} {
		if err := do(t.Context(), chosen); !errors.Is(err, ErrNone) {
			t.Errorf("%s of the dead: %v", what, err)
		}
	}
}

// A process that does not stop must not be called stopped. The one at hand is the one that asks: it is taken out of the
// signal's way by looking at it only.
func TestAStopThatIsNotSeenIsAnError(t *testing.T) {
	cmd, _ := start(t, "sleep")
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	const harmless = syscall.Signal(0)
	err := settle(ctx, Only(cmd.Process.Pid), harmless, "stopped", State.Halted)
	if err == nil || !strings.Contains(err.Error(), "not stopped") || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

func TestAnEmptySelectionIsNoSuccess(t *testing.T) {
	for what, chosen := range map[string]Selection{"no process": Only(), "no such container": Container(strings.Repeat("0123", 16))} {
		if err := Stop(t.Context(), chosen); !errors.Is(err, ErrNone) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestANameInProcCannotConfuseTheReader(t *testing.T) {
	name, err := os.ReadFile("/proc/self/comm")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("/proc/self/comm", []byte(") Z 1 ("), 0); err != nil {
		needs.Skip(t, err)
	}
	defer func() { _ = os.WriteFile("/proc/self/comm", name, 0) }()
	got, err := ReadStat(os.Getpid())
	if err != nil || got.Parent != os.Getppid() || got.State.Over() || got.Name != ") Z 1 (" || got.Start == 0 {
		t.Errorf("got %+v, %v", got, err)
	}
}
