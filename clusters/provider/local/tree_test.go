//go:build linux

package local

import (
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"lockcheck/clusters"
	"lockcheck/clusters/provider/procs"
	"lockcheck/clusters/testkit"
)

// tree is a server that forks: two children in sessions of their own, one of which has lost its parent. The other bears no
// mark if it is asked not to: some servers (PostgreSQL) write what they do over their environment.
func tree(args []string) error {
	for _, what := range []string{"sleep", "abandon"} {
		cmd := exec.Command(selfPath, what)
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if what == "sleep" && len(args) > 0 {
			cmd.Env = []string{"NOTHING="}
		}
		if err := cmd.Start(); err != nil {
			return err
		}
		if what == "abandon" {
			if err := cmd.Wait(); err != nil {
				return err
			}
		}
	}
	fmt.Println("ready")
	return testkit.Sleep(nil)
}

// multiply starts processes in sessions of their own without end, and ends the oldest: some are born at any moment.
func multiply([]string) error {
	const most = 4
	var living []*exec.Cmd
	for {
		cmd := exec.Command(selfPath, "sleep")
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := cmd.Start(); err != nil {
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

// startTree starts a helper that forks, as one that refuses to run as user id 0 or as any other.
func startTree(t *testing.T, s clusters.Site, other bool, args ...string) *process {
	t.Helper()
	h := testkit.Host(t, s, fmt.Sprintf("n%d", len(s.(*site).hosts)+1))
	p, err := h.Start(t.Context(), clusters.Command{Args: args, Log: args[0], Pipes: true, OtherUser: other})
	if err != nil {
		t.Fatal(err)
	}
	if line := testkit.ReadLine(t, p.Stdout()); line != "ready" {
		t.Fatalf("it printed %q", line)
	}
	return p.(*process)
}

func TestATreeIsPausedAndKilledAsAWhole(t *testing.T) {
	everywhere(t, func(t *testing.T, s clusters.Site) {
		for _, other := range []bool{false, true} {
			p := startTree(t, s, other, "tree")
			size := 2 // the orphan is known to be of the tree where that has a namespace of its own
			if p.first {
				size++
			}
			members, err := procs.Fixed(procs.Descent(p.PID()))
			if err != nil {
				t.Fatal(err)
			}
			wantStates(t, members, size, "T", false)
			if err := p.Pause(t.Context()); err != nil {
				t.Fatal(err)
			}
			wantStates(t, members, size, "T", true)
			if err := p.Resume(t.Context()); err != nil {
				t.Fatal(err)
			}
			wantStates(t, members, size, "T", false)
			if err := p.Pause(t.Context()); err != nil { // stopped processes die, too
				t.Fatal(err)
			}
			if err := p.Kill(t.Context()); err != nil {
				t.Fatal(err)
			}
			if threads, err := procs.Threads(members); err != nil || firstAlive(threads) {
				t.Errorf("after the kill: %+v, %v", threads, err)
			}
		}
	})
}

// wantStates looks at every thread of so many processes.
func wantStates(t *testing.T, members procs.Selection, size int, state string, want bool) {
	t.Helper()
	pids, err := members()
	if err != nil || len(pids) != size {
		t.Errorf("processes %v, %v; want %d", pids, err, size)
	}
	threads, err := procs.Threads(members)
	if err != nil || len(threads) < size {
		t.Fatalf("threads %+v, %v", threads, err)
	}
	for _, thread := range threads {
		if strings.Contains(state, string(rune(thread.State))) != want {
			t.Errorf("thread %d of process %d is %c; %s wanted: %v", thread.Thread, thread.Process, thread.State, state, want)
		}
	}
}

func firstAlive(threads []procs.Thread) bool {
	for _, thread := range threads {
		if !thread.State.Over() {
			return true
		}
	}
	return false
}

func TestATreeThatForksAllTheTimeLeavesNothingWhenItIsKilled(t *testing.T) {
	everywhere(t, func(t *testing.T, s clusters.Site) {
		for round := range 10 {
			p := startTree(t, s, round%2 == 0, "multiply")
			if round%3 == 0 {
				if err := p.Pause(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			if err := p.Kill(t.Context()); err != nil {
				t.Fatal(err)
			}
			if left := marked(s.(*site).mark); len(left) > 0 {
				t.Fatalf("round %d: processes %v are left", round, left)
			}
		}
	})
}

func TestCloseKillsTrees(t *testing.T) {
	everywhere(t, func(t *testing.T, s clusters.Site) {
		var all []procs.Selection
		for _, other := range []bool{false, true} {
			members, err := procs.Fixed(procs.Descent(startTree(t, s, other, "tree", "unmarked").PID()))
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, members)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		for _, members := range all {
			if threads, err := procs.Threads(members); err != nil || firstAlive(threads) {
				t.Errorf("after closing: %+v, %v", threads, err)
			}
		}
	})
}
