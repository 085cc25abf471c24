//go:build linux

package local

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"lockcheck/clusters"
	"lockcheck/clusters/provider/procs"
)

// vanishTimeout bounds how long a killed run may take to vanish: what would stay for good is looked for.
const vanishTimeout = 30 * time.Second

// victims are the processes of a harness whose sudden death must end everything.
var victims = []struct {
	name string
	pick func(outer int) int
}{
	{"outer", func(outer int) int { return outer }},
	{"inner", func(outer int) int { return firstChild(outer) }},
}

func TestKilledHarnessLeavesNothing(t *testing.T) {
	for _, m := range modes() {
		for _, v := range victims {
			if v.name == "inner" && !m.isolated {
				continue
			}
			t.Run(m.name+" "+v.name, func(t *testing.T) {
				cmd := m.command("harness")
				cmd.Stderr = os.Stderr
				out, err := cmd.StdoutPipe()
				if err != nil {
					t.Fatal(err)
				}
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = cmd.Process.Kill() })
				line, err := bufio.NewReader(out).ReadString('\n')
				if err != nil {
					t.Fatal(err)
				}
				words := strings.Fields(line)
				mark, data, logs := words[0], words[1], words[2]
				t.Cleanup(func() { os.RemoveAll(logs) })
				processes := 6 // that bear the mark
				if m.uid != 0 && !m.isolated {
					processes++ // of the tree
				}
				wantMarked(t, mark, processes) // they fork when they please
				family := descendants(cmd.Process.Pid)
				spaces := namespaces(family)
				pin(t, family)
				same := fixed(t, family)
				if hosts := 4; m.isolated && len(spaces) < hosts+1 {
					t.Fatalf("%d network namespaces, want one for each of %d hosts and one of the run: %v", len(spaces), hosts, spaces)
				}
				if err := syscall.Kill(v.pick(cmd.Process.Pid), syscall.SIGKILL); err != nil {
					t.Fatal(err)
				}
				_ = cmd.Wait()
				if v.name == "inner" && cmd.ProcessState.ExitCode() != 137 {
					t.Errorf("the outer process ended with %v, want exit code 137", cmd.ProcessState)
				}
				vanished(t, same, mark, spaces, data)
			})
		}
	}
}

// Killed at any moment of its start, too.
func TestHarnessKilledWhileItStartsLeavesNothing(t *testing.T) {
	for _, m := range modes() {
		t.Run(m.name, func(t *testing.T) {
			for range 8 {
				tmp := t.TempDir()
				if err := os.Chmod(tmp, 0o777); err != nil {
					t.Fatal(err)
				}
				_ = os.Chmod(filepath.Dir(tmp), 0o755)
				cmd := m.command("harness")
				cmd.Env = append(cmd.Env, "TMPDIR="+tmp)
				last := followDescendants(t, cmd)
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				last.theirs.Close()
				time.Sleep(time.Duration(rand.IntN(150)) * time.Millisecond)
				family := fixed(t, descendants(cmd.Process.Pid))
				_ = cmd.Process.Kill()
				_ = cmd.Wait()
				vanished(t, family, "none", nil, tmp+"/none")
				last.wantEnd(t)
				if left, _ := filepath.Glob(tmp + "/lockcheck-*"); len(left) > 0 {
					t.Errorf("no process is left, and %v are", left)
				}
			}
		})
	}
}

// vanished waits until no process of the family, none with the mark, none in the namespaces and no data are left.
func vanished(t *testing.T, family procs.Selection, mark string, spaces []string, data string) {
	t.Helper()
	var left []string
	for deadline := time.Now().Add(vanishTimeout); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		left = left[:0]
		alive, err := family()
		if err != nil {
			t.Fatal(err)
		}
		for _, pid := range alive {
			if s, err := procs.ReadStat(pid); err == nil && !s.State.Over() {
				left = append(left, fmt.Sprintf("process %d", pid))
			}
		}
		for _, pid := range marked(mark) {
			left = append(left, fmt.Sprintf("marked process %d", pid))
		}
		for _, ns := range namespaces(allPIDs()) {
			if slices.Contains(spaces, ns) {
				left = append(left, "namespace "+ns)
			}
		}
		if _, err := os.Stat(data); !errors.Is(err, os.ErrNotExist) {
			left = append(left, "data in "+data)
		}
		if len(left) == 0 {
			return
		}
	}
	t.Errorf("%v after the kill: %v", vanishTimeout, left)
}

// fixed are these processes, and none that is given the id of one that ended.
func fixed(t *testing.T, pids []int) procs.Selection {
	t.Helper()
	same, err := procs.Fixed(procs.Only(pids...))
	if err != nil {
		t.Fatal(err)
	}
	return same
}

// pin keeps the network namespaces of processes up to the end of the test: the kernel gives the number of one that is gone to the next one
// that is made, which on a busy machine is that of another test.
func pin(t *testing.T, pids []int) {
	t.Helper()
	for _, pid := range pids {
		links, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/ns/net", pid))
		for _, link := range links {
			if kept, err := os.Open(link); err == nil { // else the thread has ended
				t.Cleanup(func() { kept.Close() })
			}
		}
	}
}

// inheritance is a pipe whose end tells that a command and all its descendants have ended, also those that were being started when it was
// killed: a janitor may not have made its directory yet.
type inheritance struct{ ours, theirs *os.File }

// inheritedFD is above all files that a harness opens. Each process that it starts inherits it, because none of them knows of it.
const inheritedFD = 100

func followDescendants(t *testing.T, cmd *exec.Cmd) inheritance {
	t.Helper()
	ours, theirs, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ours.Close() })
	const standard = 3 // files come before the extra ones
	cmd.ExtraFiles = make([]*os.File, inheritedFD-standard+1)
	cmd.ExtraFiles[inheritedFD-standard] = theirs
	return inheritance{ours, theirs}
}

// wantEnd waits for the end of the last one.
func (i inheritance) wantEnd(t *testing.T) {
	t.Helper()
	_ = i.ours.SetReadDeadline(time.Now().Add(vanishTimeout))
	if _, err := i.ours.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("%v after the kill a process is left: %v", vanishTimeout, err)
	}
}

func allPIDs() []int {
	pids, _ := procs.Numbers()
	return pids
}

func descendants(root int) []int {
	family := []int{root}
	for i := 0; i < len(family); i++ {
		for _, pid := range allPIDs() {
			if s, err := procs.ReadStat(pid); err == nil && s.Parent == family[i] {
				family = append(family, pid)
			}
		}
	}
	return family
}

func firstChild(pid int) int { return descendants(pid)[1] }

// namespaces lists the network namespaces of all threads of the processes, without our own.
func namespaces(pids []int) []string {
	mine, _ := os.Readlink("/proc/self/ns/net")
	var all []string
	for _, pid := range pids {
		links, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/ns/net", pid))
		for _, link := range links {
			if ns, err := os.Readlink(link); err == nil && ns != mine && !slices.Contains(all, ns) {
				all = append(all, ns)
			}
		}
	}
	return all
}

func TestExitCodePassesThrough(t *testing.T) {
	for _, m := range modes() {
		err := m.command("exit-code").Run()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 3 {
			t.Errorf("%s: %v, want exit status 3", m.name, err)
		}
	}
}

// Go exits with 2 after a panic, which a user of the exit code would take for a verdict.
func TestACrashIsNoVerdict(t *testing.T) {
	for _, m := range modes() {
		if !m.isolated {
			continue // no outer process watches there: main has a panic abort instead
		}
		err := m.command("panic").Run()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != exitCrashed {
			t.Errorf("%s: %v, want exit status %d", m.name, err, exitCrashed)
		}
	}
}

// interrupts counts what it gets in 400 ms after the first and ends with that as its exit code.
func interrupts([]string) error {
	got := make(chan os.Signal, 10)
	signal.Notify(got, syscall.SIGINT, syscall.SIGTERM)
	fmt.Println("ready")
	count := 0
	var end <-chan time.Time
	for {
		select {
		case <-got:
			if count++; count == 1 {
				end = time.After(400 * time.Millisecond)
			}
		case <-end:
			Exit(count)
		}
	}
}

func TestSignalsReachTheInnerProcessOnce(t *testing.T) {
	for _, m := range modes() {
		for name, send := range map[string]func(pid int) error{
			"SIGINT to the process": func(pid int) error { return syscall.Kill(pid, syscall.SIGINT) },
			"Ctrl-C to the group":   func(pid int) error { return syscall.Kill(-pid, syscall.SIGINT) },
			"SIGTERM":               func(pid int) error { return syscall.Kill(pid, syscall.SIGTERM) },
		} {
			cmd := m.command("interrupts")
			if cmd.SysProcAttr == nil {
				cmd.SysProcAttr = &syscall.SysProcAttr{}
			}
			cmd.SysProcAttr.Setpgid = true
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			stuck := time.AfterFunc(20*time.Second, func() { _ = cmd.Process.Kill() })
			defer stuck.Stop()
			if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
				t.Fatal(err)
			}
			if err := send(cmd.Process.Pid); err != nil {
				t.Fatal(err)
			}
			if _ = cmd.Wait(); cmd.ProcessState.ExitCode() != 1 {
				t.Errorf("%s, %s: exit code %d, want 1 signal", m.name, name, cmd.ProcessState.ExitCode())
			}
		}
	}
}

func TestABadModeIsAUsageError(t *testing.T) {
	t.Setenv(EnvNamespaces, "maybe")
	if _, _, err := Enter(); !errors.Is(err, clusters.ErrUsage) || !strings.Contains(err.Error(), "auto or off") {
		t.Errorf("got %v", err)
	}
}

func TestLoopbackSaysWhyAndWhatWouldHelp(t *testing.T) {
	t.Setenv(EnvNamespaces, "off")
	p, _, err := Enter()
	if err != nil {
		t.Fatal(err)
	}
	if p.inside || !strings.Contains(p.reason, "unset it") {
		t.Errorf("got %+v", p)
	}
}

func TestThePrivateDataHidesNothingThatIsNeeded(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(dir+"/a/b", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(dir+"/a", dir+"/link"); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		keep string
		want bool
	}{
		{dir + "/a", true},
		{dir + "/a/b/not-there-yet", true},
		{dir + "/link/b", true},
		{dir + "/ab", false},
		{dir, false},
		{"/", false},
	} {
		if got := coversAny(dir+"/a", []string{c.keep}); got != c.want {
			t.Errorf("%s/a covers %s: %v, want %v", dir, c.keep, got, c.want)
		}
	}
}

func TestASiteThatCannotHaveItsDataSaysWhy(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir()+"/not-there")
	_, err := (&Provider{}).Open(t.Context(), clusters.SiteSpec{Run: "r", LogDir: t.TempDir()})
	if err == nil || !strings.Contains(err.Error(), "not-there") || !strings.Contains(err.Error(), "no such file or directory") {
		t.Errorf("got %v", err)
	}
}

func TestTheJanitorRefusesWhatIsNotARuns(t *testing.T) {
	for _, args := range [][]string{{}, {"--mark", "short", "--data", "/tmp/lockcheck-1"}, {"--mark", newMark(), "--data", "/home"}} {
		if err := Janitor(args); err == nil {
			t.Errorf("%v was accepted", args)
		}
	}
}
