package vdso

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"lockcheck/clusters/testkit/needs"
	"lockcheck/nemesis/testkit"
)

var anHour = Skew{Wall: Shift{Offset: time.Hour}, Expiry: time.Minute}

// wantRefused tries all that can be done to a process.
func wantRefused(t *testing.T, pid int, kind error, says string) {
	t.Helper()
	_, applying := Apply(pid, anHour)
	_, healing := Heal(pid)
	_, reading := Read(pid)
	for what, err := range map[string]error{"apply": applying, "heal": healing, "read": reading} {
		if !errors.Is(err, kind) || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), strconv.Itoa(pid)) {
			t.Errorf("%s: %v, want %v that says %q", what, err, kind, says)
		}
	}
}

func TestAProcessThatIsGoneIsRefused(t *testing.T) {
	p := startClock(t)
	p.end()
	wantRefused(t, p.pid(), os.ErrProcessDone, "")
}

func TestAZombieIsRefused(t *testing.T) {
	p := startClock(t)
	_ = p.cmd.Process.Kill()
	wantState(t, p.pid(), "Z")
	wantRefused(t, p.pid(), os.ErrProcessDone, "")
	if err := p.cmd.Wait(); err == nil || p.cmd.ProcessState == nil {
		t.Errorf("its end was taken from its parent: %v", err)
	}
}

// A process that is ending has lost its memory before it is seen to end. A thread of the kernel never had any.
func TestAProcessWithoutMemoryIsAsGoodAsGone(t *testing.T) {
	const kthreadd = 2
	name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", kthreadd))
	if _, forbidden := os.Readlink(fmt.Sprintf("/proc/%d/ns/time", kthreadd)); err != nil || string(name) != "kthreadd\n" || forbidden != nil {
		needs.Skip(t, "no thread of the kernel can be looked at here")
	}
	wantRefused(t, kthreadd, os.ErrProcessDone, "nothing is mapped")
}

func TestTheProcessItselfIsRefused(t *testing.T) {
	wantRefused(t, os.Getpid(), ErrUnsupported, "its own threads")
}

// pause32 is an i386 program that does nothing for ever.
var pause32 = []byte("\x7fELF\x01\x01\x01\x00" + strings.Repeat("\x00", 8) + // ELF32, little endian
	"\x02\x00\x03\x00\x01\x00\x00\x00" + "\x54\x80\x04\x08" + // executable, EM_386, version, entry 0x08048054
	"\x34\x00\x00\x00" + strings.Repeat("\x00", 8) + // program headers at 52, no sections, no flags
	"\x34\x00\x20\x00\x01\x00\x28\x00\x00\x00\x00\x00" + // sizes of headers, one program header
	"\x01\x00\x00\x00\x00\x00\x00\x00" + "\x00\x80\x04\x08\x00\x80\x04\x08" + // PT_LOAD of the file at 0x08048000
	"\x5d\x00\x00\x00\x5d\x00\x00\x00\x05\x00\x00\x00\x00\x10\x00\x00" + // 93 bytes, readable, executable
	"\xb8\x1d\x00\x00\x00\xcd\x80\xeb\xf7") // mov eax, 29; int 0x80; jmp back: pause()

// A kernel that runs no such programs has no process that could be taken for another, and nothing could be installed to change that: the
// test is skipped, with CI=true as well. What refuses them is seen everywhere, with the bytes of one (TestAVDSOThatIsNotKnownIsRefused).
func TestA32BitProcessIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pause32")
	if err := os.WriteFile(path, pause32, 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path)
	if err := cmd.Start(); errors.Is(err, unix.ENOEXEC) {
		t.Skip("this kernel runs no 32-bit programs")
	} else if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	wantRefused(t, cmd.Process.Pid, ErrUnsupported, "64-bit")
}

func TestAProcessThatIsTracedIsRefused(t *testing.T) {
	p := startClock(t)
	err := withStopped(p.pid(), func(*stopped) error {
		_, err := Apply(p.pid(), anHour)
		return err
	})
	if !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), "traces it already") {
		t.Error(err)
	}
	wantSeen(t, p, 0, 0)
}

// as makes a command run as another user. The test binary lies where that user may not look, but an open file of it may
// be run.
func as(t *testing.T, uid uint32, attr syscall.SysProcAttr, cmd *exec.Cmd) *exec.Cmd {
	t.Helper()
	if os.Geteuid() != 0 {
		needs.Skip(t, "only root can start a process as another user")
	}
	binary, err := os.Open(cmd.Path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { binary.Close() })
	cmd.Path, cmd.ExtraFiles, cmd.Dir = "/proc/self/fd/3", []*os.File{binary}, "/"
	attr.Credential = &syscall.Credential{Uid: uid, Gid: uid}
	cmd.SysProcAttr = &attr
	return cmd
}

const (
	nobody  = 65534
	another = 65533
)

func applyArgs(pid int) []string { return []string{"apply", strconv.Itoa(pid), "3600000000000"} }

func TestAnotherUserNeedsTheCapability(t *testing.T) {
	p := start(t, as(t, another, syscall.SysProcAttr{}, self("clock")))
	p.read()

	out, err := as(t, nobody, syscall.SysProcAttr{}, self(applyArgs(p.pid())...)).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "CAP_SYS_PTRACE") || !strings.Contains(string(out), "permission denied") {
		t.Errorf("without it: %v %s", err, out)
	}
	wantSeen(t, p, 0, 0)

	out, err = as(t, nobody, syscall.SysProcAttr{AmbientCaps: []uintptr{unix.CAP_SYS_PTRACE}}, self(applyArgs(p.pid())...)).CombinedOutput()
	if err != nil {
		t.Errorf("with it alone: %v %s", err, out)
	}
	wantSeen(t, p, time.Hour, 0)
}

// An unprivileged user, as it is and as root of its own user namespace, changes a child of its own.
func TestAnUnprivilegedUserMayChangeItsChildren(t *testing.T) {
	for name, attr := range map[string]syscall.SysProcAttr{
		"plain": {},
		"user namespace": {
			Cloneflags:  unix.CLONE_NEWUSER,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: nobody, Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: nobody, Size: 1}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			uid := uint32(nobody)
			if attr.Cloneflags != 0 {
				uid = 0 // inside
			}
			out, err := as(t, uid, attr, self("apply-child")).CombinedOutput()
			if err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
}

// applyChild changes a child's clock and sees that it took.
func applyChild([]string) error {
	cmd := exec.Command("/proc/self/exe", "clock")
	cmd.Stderr = os.Stderr
	stdin, err1 := cmd.StdinPipe()
	stdout, err2 := cmd.StdoutPipe()
	if err := errors.Join(err1, err2, cmd.Start()); err != nil {
		return err
	}
	defer func() { _ = stdin.Close(); _ = cmd.Wait() }()
	var ready string
	if _, err := fmt.Fscan(stdout, &ready); err != nil {
		return err
	}
	if _, err := Apply(cmd.Process.Pid, anHour); err != nil {
		return err
	}
	var wall, mono time.Duration
	if _, err := fmt.Fprintln(stdin, "?"); err != nil {
		return err
	}
	if _, err := fmt.Fscan(stdout, &wall, &mono); err != nil {
		return err
	}
	if !testkit.Near(wall, time.Hour) {
		return fmt.Errorf("the child sees %v, want 1h", wall)
	}
	return nil
}

// A process that has just called exec has lost its old memory, and has no vDSO until the new program is loaded. It is not taken for one that
// never has any.
func TestAProcessThatLoadsItsProgramIsWaitedFor(t *testing.T) {
	for range 500 {
		cmd := exec.Command("sleep", "60")
		if err := cmd.Start(); err != nil { // returns while the program is being loaded
			t.Fatal(err)
		}
		_, err := findTarget(cmd.Process.Pid)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if err != nil {
			t.Fatal(err)
		}
	}
}
