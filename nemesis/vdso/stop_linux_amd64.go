package vdso

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// stopTimeout is how long the threads of a process may take to stop. One that waits uninterruptibly, for a disk or for the
// exec of a child begun by vfork, does not stop before it is done.
const stopTimeout = 2 * time.Second

// stopped is a process all of whose threads this thread of the operating system has stopped with ptrace.
type stopped struct {
	pid     int
	met     map[int]bool        // threads that were seized, or tried
	signals map[int]unix.Signal // thread that has stopped -> the signal that it was about to get, or 0
}

// withStopped stops all threads of a process, calls f, and lets them go. All calls of ptrace have to come from one thread,
// so f runs on a thread of its own; its end makes the kernel release what is still stopped.
func withStopped(pid int, f func(*stopped) error) error {
	result := make(chan error)
	go onOwnThread(func() error { return holdStopped(pid, f) }, result)
	return <-result
}

func onOwnThread(job func() error, result chan<- error) {
	runtime.LockOSThread() // never unlocked: the runtime ends the thread with the goroutine
	if unix.Gettid() == unix.Getpid() {
		// The runtime parks the main thread instead of ending it. Hold it while another goroutine takes a different one.
		inner := make(chan error)
		go onOwnThread(job, inner)
		err := <-inner
		runtime.UnlockOSThread()
		result <- err
		return
	}
	result <- job()
}

func holdStopped(pid int, f func(*stopped) error) (err error) {
	s := &stopped{pid: pid, met: make(map[int]bool), signals: make(map[int]unix.Signal)}
	defer func() { err = errors.Join(err, s.letGo()) }()
	if err := s.stop(); err != nil {
		return err
	}
	return f(s)
}

// stop seizes threads until a list of them shows none that is not stopped: a thread that is stopped starts no other.
func (s *stopped) stop() error {
	deadline := time.Now().Add(stopTimeout)
	for {
		fresh, err := s.seizeFresh()
		if err != nil {
			return err
		}
		if len(fresh) == 0 {
			break
		}
		for _, tid := range fresh {
			if err := s.await(tid, deadline); err != nil {
				return err
			}
		}
	}
	if len(s.signals) == 0 {
		return fmt.Errorf("%w: none of its threads is alive", os.ErrProcessDone)
	}
	return nil
}

// seizeFresh seizes and interrupts the threads that it has not met.
func (s *stopped) seizeFresh() ([]int, error) {
	entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", s.pid))
	if err != nil {
		return nil, err
	}
	var fresh []int
	for _, e := range entries {
		tid, err := strconv.Atoi(e.Name())
		if err != nil {
			return nil, err
		}
		if s.met[tid] {
			continue
		}
		s.met[tid] = true
		if err := seize(tid); err != nil {
			if over(tid) {
				continue
			}
			return nil, fmt.Errorf("stop thread %d: %w", tid, err)
		}
		fresh = append(fresh, tid)
	}
	return fresh, nil
}

func seize(tid int) error {
	if err := unix.PtraceSeize(tid); err != nil {
		return fmt.Errorf("ptrace(PTRACE_SEIZE): %w", err)
	}
	if err := unix.PtraceInterrupt(tid); err != nil {
		return fmt.Errorf("ptrace(PTRACE_INTERRUPT): %w", err)
	}
	return nil
}

// over reports whether a thread has ended. A process's first thread may do so before the others, and stays as a zombie.
func over(tid int) bool {
	state := status(tid, "State")
	return state == "" || state[0] == 'Z' || state[0] == 'X'
}

// await waits until a seized thread has stopped or ended.
func (s *stopped) await(tid int, deadline time.Time) error {
	nap := unix.NsecToTimespec(int64(20 * time.Microsecond))
	for {
		info, err := s.wait(tid)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.ECHILD), errors.Is(err, unix.ESRCH), err == nil && info.ended():
			return nil
		case err != nil:
			return fmt.Errorf("wait for thread %d to stop: waitid: %w", tid, err)
		case info.pid != 0:
			s.signals[tid] = info.pending()
			return nil
		}
		// Not by the runtime's sleep, which would give this thread's processor away and have to get it back.
		_ = unix.Nanosleep(&nap, nil)
		if tid == s.pid && over(tid) {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("thread %d did not stop within %v (state %s); try again later", tid, stopTimeout, status(tid, "State"))
		}
	}
}

// siginfo is the kernel's siginfo_t as waitid fills it.
type siginfo struct {
	signo, errno, code, _ int32
	pid, uid, status      int32
	_                     [100]byte
}

const (
	cldExited = 1
	cldDumped = 3
)

func (i siginfo) ended() bool { return i.pid != 0 && i.code >= cldExited && i.code <= cldDumped }

// pending is the signal that a thread stopped at, if it did not stop because it was interrupted or paused.
func (i siginfo) pending() unix.Signal {
	if event := i.status >> 8; event != 0 { // PTRACE_EVENT_STOP
		return 0
	}
	return unix.Signal(i.status)
}

// wait asks whether a thread has stopped. The end of a process's first thread is left for its parent to collect, which may
// be this process.
func (s *stopped) wait(tid int) (siginfo, error) {
	var info siginfo
	options := unix.WSTOPPED | unix.WNOHANG | unix.WALL
	if tid != s.pid {
		options |= unix.WEXITED
	}
	_, _, errno := unix.Syscall6(unix.SYS_WAITID, unix.P_PID, uintptr(tid), uintptr(unsafe.Pointer(&info)), uintptr(options), 0, 0)
	if errno != 0 {
		return info, errno
	}
	return info, nil
}

// letGo lets all threads go on, each with the signal that it was about to get. A paused process stays paused. A thread that
// was seized and did not stop in time is let go by the end of the tracing thread.
func (s *stopped) letGo() error {
	var failed error
	for tid, signal := range s.signals {
		_, _, errno := unix.Syscall6(unix.SYS_PTRACE, unix.PTRACE_DETACH, uintptr(tid), 0, uintptr(signal), 0, 0)
		if errno != 0 && errno != unix.ESRCH { // killed by then
			failed = errors.Join(failed, fmt.Errorf("let thread %d go: ptrace(PTRACE_DETACH): %w", tid, errno))
		}
	}
	return failed
}
