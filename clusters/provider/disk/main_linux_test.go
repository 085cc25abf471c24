package disk

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestMain also is the serving process, and its probe.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == Command {
		if err := Serve(os.Args[2:], os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if len(os.Args) > 2 && os.Args[1] == "sync" {
		os.Exit(syncOnce(os.Args[2]))
	}
	os.Exit(m.Run())
}

// served is a mount with its serving process.
type served struct {
	*Disk
	dir, data string
	cmd       *exec.Cmd
}

// cannot skips a test of what this machine does not allow; with CI=true that is a failure.
func cannot(t *testing.T, why error) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatal(why)
	}
	t.Skip(why)
}

// serve mounts one, where that can be done. No call of a test may wait for it for ever: see within.
func serve(t *testing.T, more ...string) *served {
	t.Helper()
	if err := Available(); err != nil {
		cannot(t, err)
	}
	if os.Geteuid() != 0 {
		cannot(t, errors.New("mounts as root; the end-to-end tests do it in namespaces of users"))
	}
	s := &served{dir: t.TempDir(), data: t.TempDir()}
	s.cmd = exec.Command("/proc/self/exe", append([]string{Command, "--dir=" + s.dir, "--data=" + s.data}, more...)...)
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	var log bytes.Buffer
	s.cmd.Stderr = &log
	in, err := s.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait()
		if err := Detach(s.dir); err != nil {
			t.Error(err)
		}
		if t.Failed() && log.Len() > 0 {
			t.Log(log.String())
		}
	})
	if s.Disk, err = Open(within(t), "test", in, out); err != nil {
		if strings.Contains(err.Error(), "operation not permitted") {
			cannot(t, err)
		}
		t.Fatal(err)
	}
	return s
}

func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// syncOnce is a program that writes and syncs a file.
func syncOnce(path string) int {
	fd, err := unix.Open(path, unix.O_CREAT|unix.O_WRONLY, 0o600)
	if err == nil {
		_, err = unix.Write(fd, []byte("x"))
	}
	if err == nil {
		err = unix.Fsync(fd)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// syncing starts that program on the mount.
func (s *served) syncing(t *testing.T) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("/proc/self/exe", "sync", filepath.Join(s.dir, "data"))
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd
}

// ends waits for the end of a program, and fails if it takes too long.
func ends(t *testing.T, cmd *exec.Cmd) error {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	select {
	case err := <-done:
		return err
	case <-within(t).Done():
		t.Fatal("the program did not end")
		return errors.New("never")
	}
}
