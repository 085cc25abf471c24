package vdso

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// target is what /proc/PID shows of a process.
type target struct {
	base, size uint64 // of its vDSO
	jvm        bool
}

// findTarget reads the process's mappings and refuses what cannot be changed.
func findTarget(pid int) (target, error) {
	var t target
	if pid == os.Getpid() {
		return t, fmt.Errorf("%w: a process cannot stop its own threads; let another one do it", ErrUnsupported)
	}
	if err := sameTime(pid); err != nil {
		return t, err
	}
	for end := time.Now().Add(loadTimeout); ; time.Sleep(loadPoll) {
		wasLoaded := loaded(pid) // before its mappings are looked at: what is loaded by then has its vDSO
		if err := t.look(pid); err != nil {
			return t, err
		}
		if t.size > 0 || wasLoaded || !hasMemory(pid) {
			break
		}
		if time.Now().After(end) {
			return t, fmt.Errorf("it has been loading its program for %v", loadTimeout)
		}
	}
	if t.size == 0 && !hasMemory(pid) {
		return t, fmt.Errorf("nothing is mapped into it (it is ending, its first thread has ended, or it is a thread of the kernel): %w", unix.ESRCH)
	}
	if t.size == 0 {
		return t, fmt.Errorf("%w: no vDSO is mapped into it (none has one on a kernel booted with vdso=0)", ErrUnsupported)
	}
	const largest = 1 << 20 // a vDSO has a few pages
	if t.size > largest {
		return t, fmt.Errorf("%w: its vDSO has %d bytes", ErrUnsupported, t.size)
	}
	return t, nil
}

// A process that calls exec has no vDSO from when the old program's memory is gone until the new one's is made. That takes far less than a
// millisecond of processor time.
const (
	loadTimeout = 10 * time.Second
	loadPoll    = time.Millisecond
)

// loaded reports whether a process has its program: the last that the kernel makes of it is the vector that begins with what ld.so needs (auxv),
// and until then that has nothing but its end, AT_NULL. Where it cannot be read there is nothing to wait for.
func loaded(pid int) bool {
	vector, err := os.ReadFile(fmt.Sprintf("/proc/%d/auxv", pid))
	return err != nil || len(vector) >= 8 && binary.NativeEndian.Uint64(vector) != 0
}

// look reads the process's mappings.
func (t *target) look(pid int) error {
	maps, err := os.Open(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		return err
	}
	defer maps.Close()
	lines := bufio.NewScanner(maps)
	for lines.Scan() {
		// 7fff5d9f5000-7fff5d9f7000 r-xp 00000000 00:00 0    [vdso]
		switch {
		case strings.HasSuffix(lines.Text(), " [vdso]"):
			if t.base, t.size, err = mapping(lines.Text()); err != nil {
				return fmt.Errorf("%s: %w", maps.Name(), err)
			}
		case strings.Contains(lines.Text(), "/libjvm.so"):
			t.jvm = true
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("%s: %w", maps.Name(), err)
	}
	return nil
}

// hasMemory reports whether anything is mapped into a process. One that is ending loses it, also halfway through a list of it.
func hasMemory(pid int) bool {
	maps, err := os.Open(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		return false
	}
	defer maps.Close()
	n, _ := maps.Read(make([]byte, 1))
	return n > 0
}

func mapping(line string) (base, size uint64, err error) {
	addresses, _, _ := strings.Cut(line, " ")
	from, to, _ := strings.Cut(addresses, "-")
	base, err1 := strconv.ParseUint(from, 16, 64)
	end, err2 := strconv.ParseUint(to, 16, 64)
	return base, end - base, errors.Join(err1, err2)
}

// sameTime refuses a process in another time namespace: its true monotonic clock is not ours.
func sameTime(pid int) error {
	ours, err := os.Readlink("/proc/self/ns/time")
	if errors.Is(err, fs.ErrNotExist) {
		return nil // a kernel without them
	}
	if err != nil {
		return err
	}
	theirs, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/time", pid))
	if err != nil {
		return err
	}
	if ours != theirs {
		return fmt.Errorf("%w: it is in another time namespace (%s, not %s)", ErrUnsupported, theirs, ours)
	}
	return nil
}

// status is a field of /proc/PID/status, or empty.
func status(id int, field string) string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", id))
	if err != nil {
		return ""
	}
	_, rest, found := bytes.Cut(text, []byte("\n"+field+":"))
	if !found {
		return ""
	}
	value, _, _ := bytes.Cut(rest, []byte("\n"))
	return string(bytes.TrimSpace(value))
}

// explain adds to an error of ptrace or /proc what forbids it, as far as can be known.
func explain(pid int, err error) error {
	switch {
	case errors.Is(err, unix.ESRCH), errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: %w", os.ErrProcessDone, err)
	case !errors.Is(err, fs.ErrPermission):
		return err
	}
	if tracer := status(pid, "TracerPid"); tracer != "" && tracer != "0" {
		return fmt.Errorf("%w: process %s traces it already (a debugger, or another change of its clock)", err, tracer)
	}
	const way = "only root, its own user, or a holder of CAP_SYS_PTRACE in its user namespace may change it"
	scope, readErr := os.ReadFile("/proc/sys/kernel/yama/ptrace_scope")
	if readErr != nil { // a kernel without Yama
		return fmt.Errorf("%w: %s", err, way)
	}
	return fmt.Errorf("%w: %s; kernel.yama.ptrace_scope is %s (1: a user only own descendants, 2: CAP_SYS_PTRACE is needed, 3: none may)",
		err, way, bytes.TrimSpace(scope))
}
