//go:build linux

package firewall

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// envInside marks the test binary that is in a network namespace of its own.
const envInside = "LOCKCHECK_TEST_INSIDE"

// dropCommand has the test binary drop the packets of a peer until its input ends.
const dropCommand = "drop"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == dropCommand {
		if err := drop(os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func drop(peer string) error {
	if _, err := Block("of-a-child", []Link{{Peer: peer, In: true, Out: true, Share: 1}}); err != nil {
		return err
	}
	fmt.Println("ready")
	_, err := io.Copy(io.Discard, os.Stdin)
	return err
}

// alone runs a test in a network namespace of its own, as an unprivileged user could: no rule of it is ever seen outside.
func alone(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	if os.Getenv(envInside) != "" {
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
	cmd := exec.Command(self, "-test.run=^"+t.Name()+"$", "-test.v", "-test.timeout=60s")
	cmd.Env = append(os.Environ(), envInside+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}},
	}
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	switch {
	case cmd.ProcessState == nil && os.Getenv("CI") != "true":
		t.Skipf("this machine refuses namespaces: %v", err)
	case err != nil:
		t.Fatal(err)
	case !strings.Contains(string(out), "--- PASS: "+t.Name()):
		t.Fatal("the test did not run inside")
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
