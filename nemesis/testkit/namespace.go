//go:build linux

package testkit

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// EnvInside marks the test binary that is in a network namespace of its own.
const EnvInside = "LOCKCHECK_TEST_INSIDE"

// Alone runs a test in a network namespace of its own, as an unprivileged user could: no rule of it is ever seen outside.
func Alone(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	alone(t, test, "-test.run=^"+t.Name()+"$", "--- PASS: "+t.Name())
}

// AloneBench is Alone for a benchmark, which is run once and prints its figures. Root's has root's rights, as the runs of root have.
func AloneBench(b *testing.B, bench func(b *testing.B)) {
	b.Helper()
	alone(b, bench, "-test.bench=^"+b.Name()+"$", b.Name(), "-test.run=^$", "-test.benchtime=1x")
}

func alone[T testing.TB](t T, test func(T), only, passed string, flags ...string) {
	t.Helper()
	if os.Getenv(EnvInside) != "" {
		if err := loopbackUp(); err != nil {
			t.Fatal(err)
		}
		test(t)
		return
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, append(flags, only, "-test.v", "-test.timeout=60s")...)
	cmd.Env = append(os.Environ(), EnvInside+"=1")
	if _, bench := any(t).(*testing.B); bench && os.Geteuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNET}
	} else {
		cmd.SysProcAttr = inOwnUserNamespace()
	}
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	switch {
	case cmd.ProcessState == nil && os.Getenv("CI") != "true":
		t.Skipf("this machine refuses namespaces: %v", err)
	case err != nil:
		t.Fatal(err)
	case !strings.Contains(string(out), passed):
		t.Fatal("the test did not run inside")
	}
}

func inOwnUserNamespace() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{
		// The network comes when the user is mapped: the files of an earlier one in /proc belong to the machine's root.
		Cloneflags: syscall.CLONE_NEWUSER, Unshareflags: syscall.CLONE_NEWNET,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}},
	}
}

func loopbackUp() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	lo.SetUint16(unix.IFF_UP)
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, lo)
}
