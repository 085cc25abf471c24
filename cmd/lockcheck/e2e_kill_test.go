//go:build e2e

package main_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/nftables"
	"github.com/vishvananda/netlink"

	"lockcheck/checker/history"
	"lockcheck/reports/rundir"
)

// nothingOf wants nothing of a killed run to stay, beside what there was before.
func nothingOf(t *testing.T, before map[string]bool, temporary string) {
	t.Helper()
	awaitGone(t, func() (left []string) {
		for trace := range traces(t) {
			if !before[trace] {
				left = append(left, trace)
			}
		}
		return append(left, filesIn(t, temporary)...)
	})
}

// vanishTimeout bounds how long a killed run may take to go. What would stay for good is looked for: on an idle machine all is gone in less
// than a second, and processes of a busy one get to their end when they are given a processor.
const vanishTimeout = 30 * time.Second

// awaitGone waits until nothing is left.
func awaitGone(t *testing.T, left func() []string) {
	t.Helper()
	for deadline := time.Now().Add(vanishTimeout); len(left()) > 0; time.Sleep(100 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Errorf("%v after the harness was killed there is still:\n%s", vanishTimeout, strings.Join(left(), "\n"))
			return
		}
	}
}

func filesIn(t *testing.T, dir string) (names []string) {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		names = append(names, filepath.Join(dir, file.Name()))
	}
	return names
}

// traces are the things that a run could leave on the machine: processes of the program under test, links, their queues, tables of rules,
// directories, and mounts that keep a namespace alive. (A namespace lives by its processes, by what they have open, or by a mount.)
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
	queues, err := netlink.QdiscList(nil) // of all links
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range queues {
		found[fmt.Sprintf("queue %s %x of link %d", q.Type(), q.Attrs().Handle, q.Attrs().LinkIndex)] = true
	}
	if rules, err := nftables.New(); err == nil {
		tables, _ := rules.ListTables() // of whom may see none, none
		for _, table := range tables {
			found["table "+table.Name] = true
		}
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

// faultsToDieIn are faults of each kind, by whether there are namespaces.
var faultsToDieIn = map[string][]string{
	"auto": {"pause:leader,1h", "partition:leader-everything,1h", "clock:all+90s,1h", "slow:all,5%,1h", "rate:leader,64kbit,1h", "delay:leader,300ms,1h", "disk:all,stall,1h", "power:all,1h", "restart:leader,1h",
		"loss:leader-everything,25%,1h", "kill:leader,1h"},
	"off": {"pause:leader,1h", "clock:all+90s,1h", "slow:all,5%,1h"},
}

// A harness that is killed leaves nothing, in namespaces and without: no process, namespace, link or temporary directory at a random moment; and
// in the middle of a fault, of each kind that etcd can meet and that has to be taken back (all but failover), no process stays behind,
// stopped, skewed, cut off or otherwise, no mount of a server's disk and no device. Limits, delays and rules are of networks that end with
// their last process.
func TestKilledHarnessLeavesNothing(t *testing.T) {
	before := traces(t) // while no other test has a run
	t.Run("killed", func(t *testing.T) {
		for namespaces, specs := range faultsToDieIn {
			for _, seed := range seeds() {
				t.Run(fmt.Sprintf("namespaces %s/at a random moment/%d", namespaces, seed), func(t *testing.T) {
					t.Parallel()
					random := rand.New(rand.NewPCG(uint64(seed), 9))
					killed(t, namespaces, "pause", func(string) { time.Sleep(time.Duration(random.Int64N(int64(9 * time.Second)))) })
				})
			}
			for _, spec := range specs {
				t.Run("namespaces "+namespaces+"/"+spec, func(t *testing.T) {
					t.Parallel()
					during := killed(t, namespaces, spec, func(recorded string) {
						if !inEffect(recorded, effectTimeout) {
							t.Error("there was no fault in effect when it was killed")
						}
					})
					if len(during) < 3 {
						t.Errorf("there was no server when it was killed: %q", during)
					}
				})
			}
		}
	})
	nothingOf(t, before, t.TempDir())
}

// killed kills a run after a wait, which is told where it records. It wants each process of the run and each file to go, which are the run's own,
// and returns the processes; what is the machine's is looked at once all runs are over.
func killed(t *testing.T, namespaces, nemesis string, wait func(recorded string)) (during []string) {
	t.Helper()
	out, temporary := t.TempDir(), t.TempDir()
	cmd := exec.Command(program, "run", "--backend=etcd", "--provider=local", "--nemesis="+nemesis, "--time-limit=60s", "--seed=1", "--out="+out)
	cmd.Env = append(os.Environ(), "LOCKCHECK_NAMESPACES="+namespaces, "TMPDIR="+temporary)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	defer placeFor(cmd)()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	wait(filepath.Join(out, "latest", rundir.HistoryFile))
	during = processesOf(t, cmd.Process.Pid)
	cmd.Process.Kill() // this process alone: its group is not touched
	cmd.Wait()
	awaitGone(t, func() []string {
		left := filesIn(t, temporary)
		for trace := range traces(t) {
			if slices.Contains(during, trace) {
				left = append(left, trace)
			}
		}
		return left
	})
	return during
}

// processesOf are the traces of a harness, its servers, clients and agents, as far as they are processes.
func processesOf(t *testing.T, harness int) (found []string) {
	t.Helper()
	all := traces(t)
	for at := []int{harness}; len(at) > 0; at = at[1:] {
		for trace := range all {
			if strings.HasPrefix(trace, fmt.Sprintf("process /proc/%d ", at[0])) {
				found = append(found, trace)
			}
		}
		at = append(at, childrenOf(at[0])...)
	}
	return found
}

// childrenOf are the processes that one has, whichever of its threads started them.
func childrenOf(pid int) (children []int) {
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid)) // of a process that has ended, none
	for _, list := range lists {
		text, _ := os.ReadFile(list)
		for _, field := range strings.Fields(string(text)) {
			if child, err := strconv.Atoi(field); err == nil {
				children = append(children, child)
			}
		}
	}
	return children
}

// effectTimeout bounds how long a run may take from its start to its first fault.
const effectTimeout = 2 * time.Minute

// inEffect waits until a fault was seen to work, as the history says.
func inEffect(path string, within time.Duration) bool {
	for deadline := time.Now().Add(within); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		file, err := os.Open(path)
		if err != nil {
			continue
		}
		for in := bufio.NewScanner(file); in.Scan(); {
			var e history.Event
			if json.Unmarshal(in.Bytes(), &e) == nil && e.Process == history.NemesisProcess && e.Type == history.OK && !e.Heal {
				file.Close()
				return true
			}
		}
		file.Close()
	}
	return false
}
