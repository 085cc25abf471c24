//go:build e2e

package run

import (
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// nobody, the Linux user, has no rights that a server must not have.
const nobody = 65534

// asNobody has a program of root's run without root's rights.
func asNobody(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGQUIT}
	if os.Getuid() == 0 {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
	}
}

// forNobody gives such a program a directory.
func forNobody(b testing.TB, dir string) {
	b.Helper()
	if os.Getuid() == 0 {
		if err := os.Chown(dir, nobody, nobody); err != nil {
			b.Fatal(err)
		}
	}
}
