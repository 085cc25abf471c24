//go:build e2e

package main_test

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A harness that is killed at a random moment leaves nothing: no process, namespace, veth or temporary directory. In
// namespaces and without.
func TestKilledHarnessLeavesNothing(t *testing.T) {
	for _, namespaces := range []string{"auto", "off"} {
		for _, seed := range seeds() {
			t.Run(fmt.Sprintf("namespaces %s/%d", namespaces, seed), func(t *testing.T) {
				random := rand.New(rand.NewPCG(uint64(seed), 9))
				killed(t, namespaces, time.Duration(random.Int64N(int64(9*time.Second))))
			})
		}
	}
}

func killed(t *testing.T, namespaces string, after time.Duration) {
	temporary := t.TempDir()
	before := traces(t)
	cmd := exec.Command(program, "run", "--backend=etcd", "--nemesis=pause", "--time-limit=30s", "--out="+t.TempDir())
	cmd.Env = append(os.Environ(), "LOCKCHECK_NAMESPACES="+namespaces, "TMPDIR="+temporary)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(after)
	cmd.Process.Kill() // this process alone: its group is not touched
	cmd.Wait()
	var left []string
	for deadline := time.Now().Add(5 * time.Second); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		left = left[:0]
		for trace := range traces(t) {
			if !before[trace] {
				left = append(left, trace)
			}
		}
		files, err := os.ReadDir(temporary)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			left = append(left, filepath.Join(temporary, file.Name()))
		}
		if len(left) == 0 {
			return
		}
	}
	t.Errorf("killed after %v, and 5 s later there is still:\n%s", after, strings.Join(left, "\n"))
}

// traces are the things that a run could leave on the machine: processes of the program under test, links, directories,
// and mounts that keep a namespace alive. (A namespace lives by its processes, by what they have open, or by a mount.)
func traces(t *testing.T) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	processes, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	for _, process := range processes {
		if exe, err := os.Readlink(process + "/exe"); err == nil && strings.HasPrefix(exe, program) {
			found["process "+process+" "+exe] = true
		}
	}
	mounts, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(mounts)) {
		if strings.Contains(line, "nsfs") || strings.HasPrefix(line, "lockcheck ") {
			found["mount "+line] = true
		}
	}
	links, err := os.ReadDir("/sys/class/net")
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	for _, link := range links {
		found["link "+link.Name()] = true
	}
	for _, root := range []string{os.TempDir(), "/dev/shm"} {
		entries, err := os.ReadDir(root)
		if err != nil && !os.IsNotExist(err) && !os.IsPermission(err) {
			t.Fatal(err)
		}
		for _, entry := range entries {
			if entry.Type() == fs.ModeDir && strings.HasPrefix(entry.Name(), "lockcheck-") {
				found["directory "+filepath.Join(root, entry.Name())] = true
			}
		}
	}
	return found
}
