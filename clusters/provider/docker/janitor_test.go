//go:build linux && e2e

package docker

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/docker/docker/client"

	"lockcheck/clusters/provider/procs"
)

// Without a sweep, the kernel and the engine end what a killed harness had running, and its janitor removes the rest.
func TestAKilledHarnessLeavesNothing(t *testing.T) {
	engine := needEngine(t)
	image := testImage(t, engine, "")
	run := fmt.Sprintf("unattended-%d", os.Getpid())
	kill(t, startHarness(t, image, run))
	waitUntilGone(t, engine, run)
}

// A janitor that is killed with the harness leaves no container.
func TestAKilledHarnessLeavesNoContainer(t *testing.T) {
	engine := needEngine(t)
	image := testImage(t, engine, "")
	run := fmt.Sprintf("unswept-%d", os.Getpid())
	victim := startHarness(t, image, run)
	killJanitor(t, victim)
	kill(t, victim)
	var all []string
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		all = things(t, engine, labelRun+"="+run)
		if !hasContainer(all) {
			break
		}
	}
	for _, thing := range all {
		if strings.HasPrefix(thing, "container ") {
			t.Errorf("%s is still there", thing)
		}
	}
	if len(all) == 0 {
		t.Error("nothing is there at all: it was swept already")
	}
	sweepHere(t)
	left(t, engine, labelRun+"="+run, 0)
}

// waitUntilGone waits for nothing of a run to be left but networks that the engine miscounts.
func waitUntilGone(t *testing.T, engine *client.Client, run string) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) {
		all := withoutMiscounted(t, engine, things(t, engine, labelRun+"="+run))
		if len(all) == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%v are left after a minute", all)
		}
	}
}

// killJanitor kills the only child of a harness that is its janitor.
func killJanitor(t *testing.T, harness *exec.Cmd) {
	t.Helper()
	pids, err := procs.Numbers()
	if err != nil {
		t.Fatal(err)
	}
	for _, pid := range pids {
		stat, err := procs.ReadStat(pid)
		if err != nil || stat.Parent != harness.Process.Pid {
			continue
		}
		if line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); err == nil && strings.Contains(string(line), JanitorCommand) {
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			return
		}
	}
	t.Fatal("the harness has no janitor")
}
