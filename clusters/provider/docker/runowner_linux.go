package docker

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"lockcheck/clusters/provider/procs"
)

// owner names this process for good: a process id alone is given to others after a while, and means nothing on another
// machine or in another PID namespace.
func owner() (string, error) {
	machine, err := machine()
	if err != nil {
		return "", err
	}
	stat, err := procs.ReadStat(os.Getpid())
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s/%d/%d", machine, os.Getpid(), stat.Start), nil
}

// machine names the kernel's boot and the PID namespace.
func machine() (string, error) {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", fmt.Errorf("reading this machine's boot id: %w", err)
	}
	space, err := os.Readlink("/proc/self/ns/pid") // pid:[4026531836]
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(string(boot)) + "/" + strings.Trim(space, "pid:[]"), nil
}

// processGone reports whether the process that began then is gone. It is not known where /proc does not show a process
// that is there: where users do not see each other's (hidepid), it may be the run of another one.
func processGone(pid int, start uint64) (gone, known bool) {
	stat, err := procs.ReadStat(pid)
	if err == nil {
		return stat.Start != start || stat.State.Over(), true
	}
	gone = errors.Is(unix.Kill(pid, 0), unix.ESRCH)
	return gone, gone
}

// mayUse reports whether this user may use a socket.
func mayUse(path string) bool { return unix.Access(path, unix.R_OK|unix.W_OK) == nil }

// ownSession keeps a process from what is for this one's terminal.
func ownSession() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// ownPath is this program, also where its file was replaced.
func ownPath() (string, error) { return selfPath, nil }
