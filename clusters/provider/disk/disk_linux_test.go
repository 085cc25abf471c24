package disk

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A directory on the mount works as any other does.
func TestFilesAreThere(t *testing.T) {
	s := serve(t)
	script := `set -e; cd "$1"
mkdir -p a/b; echo one >a/b/f; echo two >>a/b/f; ln a/b/f hard; ln -s hard soft; mv a/b/f a/g
test "$(cat soft)" = "$(printf 'one\ntwo')"; test "$(stat -c %h a/g)" = 2; rmdir a/b; chmod 640 hard; test "$(stat -c %a a/g)" = 640
truncate -s 1 hard; test "$(cat a/g)" = o; rm hard; cat soft 2>/dev/null && exit 1
for i in $(seq 300); do : >many-$i; done; test "$(ls -A | wc -l)" = 302; rm many-*
test "$(ls -A | tr '\n' ' ')" = "a soft "; rm -rf a soft; test -z "$(ls -A)"`
	if out, err := exec.Command("sh", "-c", script, "sh", s.dir).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

// A shared mapping shows what is written, as bbolt has it, and what is written into it arrives.
func TestMappedFiles(t *testing.T) {
	s := serve(t)
	fd, err := unix.Open(filepath.Join(s.dir, "db"), unix.O_CREAT|unix.O_RDWR|unix.O_CLOEXEC, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	if err := unix.Ftruncate(fd, 8*block); err != nil {
		t.Fatal(err)
	}
	mapped, err := unix.Mmap(fd, 0, 8*block, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(mapped)
	if _, err := unix.Pwrite(fd, []byte("written"), 5*block); err != nil || string(mapped[5*block:5*block+7]) != "written" {
		t.Errorf("mapped: %q, %v", mapped[5*block:5*block+7], err)
	}
	copy(mapped[2*block:], "mapped")
	if err := unix.Msync(mapped, unix.MS_SYNC); err != nil {
		t.Fatal(err)
	}
	below, err := os.ReadFile(filepath.Join(s.data, "db"))
	if err != nil || string(below[2*block:2*block+6]) != "mapped" || string(below[5*block:5*block+7]) != "written" {
		t.Errorf("below the mount: %d bytes, %v", len(below), err)
	}
}

// Each kind of rule, in each class: it is seen to work in that class and in no other, and to be gone.
func TestRules(t *testing.T) {
	s := serve(t)
	for _, rule := range []Rule{{Stall: true}, {Error: true}, {Slow: 30 * time.Millisecond}} {
		for _, class := range Classes {
			rule.Of = []Class{class}
			if err := s.Begin(within(t), "r", rule); err != nil {
				t.Errorf("%v: %v", rule, err)
			}
			if err := s.Begin(within(t), "whole", Rule{Slow: 50 * time.Millisecond, Of: others(class)}); err != nil {
				t.Errorf("%v, the other classes: %v", rule, err)
			}
			for _, name := range []string{"whole", "r"} {
				if err := s.End(within(t), name); err != nil {
					t.Errorf("%v: end of %s: %v", rule, name, err)
				}
			}
		}
	}
}

func others(than Class) (all []Class) {
	for _, c := range Classes {
		if c != than {
			all = append(all, c)
		}
	}
	return all
}

// A rule that does nothing is not believed.
func TestARuleIsSeenByTrying(t *testing.T) {
	s := serve(t)
	if err := s.Begin(within(t), "fails", Rule{Error: true}); err != nil {
		t.Fatal(err)
	}
	if err := s.Begin(within(t), "slow", Rule{Slow: time.Millisecond}); err == nil || !strings.Contains(err.Error(), "input/output error") {
		t.Errorf("slow while all fails: %v", err)
	}
	for _, name := range []string{"slow", "fails"} {
		if err := s.End(within(t), name); err != nil {
			t.Error(err)
		}
	}
}

// Of two rules of one class the later one is seen, unless the earlier one hides it.
func TestWhichRulesHideOthers(t *testing.T) {
	rules := []Rule{{Stall: true}, {Error: true}, {Slow: 30 * time.Millisecond}}
	for _, earlier := range rules {
		for _, later := range rules {
			t.Run(earlier.String()+"; "+later.String(), func(t *testing.T) {
				s := serve(t)
				if err := s.Begin(within(t), "earlier", earlier); err != nil {
					t.Fatal(err)
				}
				ctx := within(t)
				if earlier.Hides(later) { // it would be waited for as long as the disk stands still
					short, cancel := context.WithTimeout(ctx, time.Second)
					defer cancel()
					ctx = short
				}
				err := s.Begin(ctx, "later", later)
				if (err != nil) != earlier.Hides(later) {
					t.Errorf("%v", err)
				}
				for _, name := range []string{"later", "earlier"} {
					if err := s.End(within(t), name); err != nil && !earlier.Hides(later) {
						t.Errorf("the end of the %s: %v", name, err)
					}
				}
			})
		}
	}
	if (Rule{Stall: true, Of: []Class{Reads}}).Hides(Rule{Error: true, Of: []Class{Writes, Syncs}}) {
		t.Error("what is about reads hides what is not")
	}
}

// A program whose sync stands still goes on when the rule ends, and what it did is there.
func TestAStallEnds(t *testing.T) {
	s := serve(t)
	if err := s.Begin(within(t), "r", Rule{Stall: true, Of: []Class{Syncs}}); err != nil {
		t.Fatal(err)
	}
	cmd := s.syncing(t)
	inFlight(t, cmd.Process.Pid)
	if err := s.End(within(t), "r"); err != nil {
		t.Fatal(err)
	}
	if err := ends(t, cmd); err != nil {
		t.Error(err)
	}
}

// A server on a disk that stands still can be killed.
func TestAStalledProgramCanBeKilled(t *testing.T) {
	for _, class := range []Class{Writes, Syncs} {
		s := serve(t)
		if err := s.Begin(within(t), "r", Rule{Stall: true, Of: []Class{class}}); err != nil {
			t.Fatal(err)
		}
		cmd := s.syncing(t)
		inFlight(t, cmd.Process.Pid)
		_ = cmd.Process.Kill()
		if err := ends(t, cmd); err == nil || !strings.Contains(err.Error(), "killed") {
			t.Errorf("%s: %v", class, err)
		}
	}
}

// The same when who serves the mount is killed: the kernel answers what is in flight.
func TestTheServingProcessIsKilled(t *testing.T) {
	s := serve(t)
	if err := s.Begin(within(t), "r", Rule{Stall: true}); err != nil {
		t.Fatal(err)
	}
	cmd := s.syncing(t)
	inFlight(t, cmd.Process.Pid)
	_ = s.cmd.Process.Kill()
	if err := ends(t, cmd); err == nil {
		t.Error("its sync succeeded")
	}
	if err := s.End(within(t), "r"); err == nil || !strings.Contains(err.Error(), errGone.Error()) {
		t.Errorf("ending the rule: %v", err)
	}
}

// Without a rule nothing is left of one, and no name of what was there.
func TestWipe(t *testing.T) {
	s := serve(t)
	if err := ends(t, s.syncing(t)); err != nil {
		t.Fatal(err)
	}
	if err := s.Wipe(within(t)); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(s.dir); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
	if err := ends(t, s.syncing(t)); err != nil {
		t.Error(err)
	}
	if err := s.Begin(within(t), "r", Rule{Error: true}); err != nil {
		t.Error(err)
	}
}

// inFlight waits until a process waits for an answer that no signal but SIGKILL ends.
func inFlight(t *testing.T, pid int) {
	t.Helper()
	ctx := within(t)
	for ctx.Err() == nil {
		tasks, _ := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/wchan")
		for _, task := range tasks {
			if on, err := os.ReadFile(task); err == nil && (strings.Contains(string(on), "fuse") || strings.Contains(string(on), "request_wait")) {
				return
			}
		}
		if stuck(pid) {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatal("the program is not seen to wait for the disk")
}

func stuck(pid int) bool {
	tasks, _ := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/syscall")
	for _, task := range tasks {
		text, err := os.ReadFile(task)
		if nr, _, _ := strings.Cut(string(text), " "); err == nil && (nr == strconv.Itoa(syscall.SYS_FSYNC) || nr == strconv.Itoa(syscall.SYS_OPENAT) || nr == strconv.Itoa(syscall.SYS_WRITE)) {
			return true
		}
	}
	return false
}
