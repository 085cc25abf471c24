package procs

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"lockcheck/clusters/testkit/needs"
)

// apart is a process in a session of its own that does something.
func apart(what string) (*exec.Cmd, error) {
	cmd := exec.Command("/proc/self/exe", what)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd, cmd.Start()
}

// multiply starts processes in sessions of their own without end, and ends the oldest: some are born at any moment.
func multiply() error {
	const most = 6
	var living []*exec.Cmd
	for {
		cmd, err := apart("sleep")
		if err != nil {
			return err
		}
		if living = append(living, cmd); len(living) == most {
			fmt.Println("ready")
		}
		if len(living) > most {
			_ = living[0].Process.Kill()
			_ = living[0].Wait()
			living = living[1:]
		}
	}
}

// bearing lists the living processes with an entry in their environment.
func bearing(t *testing.T, entry string) (found []int) {
	t.Helper()
	pids, err := Numbers()
	if err != nil {
		t.Fatal(err)
	}
	for _, pid := range pids {
		if env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid)); err == nil && bytes.Contains(env, []byte(entry)) {
			found = append(found, pid)
		}
	}
	return found
}

func TestATreeThatForksWhileItIsKilledLeavesNone(t *testing.T) {
	for round := range 10 {
		mark := fmt.Sprintf("LOCKCHECK_TREE=%d-%d", os.Getpid(), round)
		cmd, printed := start(t, "multiply", mark)
		if printed != "ready" {
			t.Fatalf("it printed %q", printed)
		}
		leader := cmd.Process.Pid
		// What comes and goes while it is listed may be missing from a list.
		if err := Stop(t.Context(), Only(leader)); err != nil {
			t.Fatal(err)
		}
		if left, err := LeftGroup(leader, os.Getpid()+1<<20); err != nil || !left[leader] || len(left) != 1 {
			t.Fatalf("left their groups: %v, %v", left, err)
		}
		if err := Continue(t.Context(), Only(leader)); err != nil {
			t.Fatal(err)
		}
		if err := KillTree(t.Context(), leader); err != nil {
			t.Fatal(err)
		}
		if left := bearing(t, mark); len(left) > 0 {
			for _, pid := range left {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
			t.Fatalf("round %d: processes %v are left", round, left)
		}
	}
}

func TestATreeThatForksWhileItIsPausedStandsStill(t *testing.T) {
	cmd, _ := start(t, "multiply")
	chosen := Descent(cmd.Process.Pid)
	defer func() { _ = KillTree(t.Context(), cmd.Process.Pid) }()
	for range 10 {
		if err := Stop(t.Context(), chosen); err != nil {
			t.Fatal(err)
		}
		if got := states(t, chosen); strings.Trim(got, "TZX") != "" {
			t.Errorf("paused: %q", got)
		}
		if err := Continue(t.Context(), chosen); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAFixedSelectionForgetsTheDeadOnly(t *testing.T) {
	cmd, _ := start(t, "sleep")
	ended, _ := start(t, "sleep")
	fixed, err := Fixed(Only(cmd.Process.Pid, ended.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	_ = ended.Process.Kill()
	_ = ended.Wait()
	if got, err := fixed(); err != nil || len(got) != 1 || got[0] != cmd.Process.Pid {
		t.Errorf("got %v, %v; want %d only", got, err, cmd.Process.Pid)
	}
}

// The kernel's answer, where it gives one, is that of the first thread.
func TestAChildIsSeen(t *testing.T) {
	if HasChildren(1 << 22) {
		t.Error("a process that is not there has children")
	}
	cmd, _ := start(t, "sleep")
	if HasChildren(cmd.Process.Pid) {
		needs.Skip(t, "this kernel does not tell (CONFIG_PROC_CHILDREN)")
	}
	shell := exec.Command("sh", "-c", "sleep 60 & echo; wait")
	shell.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := shell.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := shell.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Kill(-shell.Process.Pid, syscall.SIGKILL); _ = shell.Wait() }()
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	if !HasChildren(shell.Process.Pid) {
		t.Error("a child of a shell is not seen")
	}
}
