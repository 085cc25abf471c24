package docker

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"lockcheck/clusters/procs"
)

// Labels of everything that a run makes.
const (
	labelRun    = "lockcheck.run"
	labelOwner  = "lockcheck.owner"
	labelSince  = "lockcheck.since"  // when the run began, RFC 3339
	labelHost   = "lockcheck.host"   // of containers and volumes
	labelClient = "lockcheck.client" // of the cached image that clients run from
)

// strangersAge is how long things of another machine's harness are left alone.
const strangersAge = 24 * time.Hour

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

// orphaned reports whether the owner of a thing with these labels is gone, as far as can be seen from here.
func orphaned(labels map[string]string, here string, now time.Time) bool {
	if labels[labelRun] == "" || labels[labelOwner] == "" {
		return false // not ours
	}
	rest, mine := strings.CutPrefix(labels[labelOwner], here+"/")
	if mine {
		var pid int
		var start uint64
		if _, err := fmt.Sscanf(rest, "%d/%d", &pid, &start); err != nil {
			return false
		}
		stat, err := procs.ReadStat(pid)
		if err == nil {
			return stat.Start != start || stat.State.Over()
		}
		if errors.Is(unix.Kill(pid, 0), unix.ESRCH) {
			return true
		}
		// There is a process of that id, but /proc does not show it: where users do not see each other's (hidepid), it may
		// be the run of another one.
	}
	since, err := time.Parse(time.RFC3339, labels[labelSince])
	return err == nil && now.Sub(since) > strangersAge
}
