package harness

import (
	"os"
	"syscall"
)

// Self is this program.
func Self() (string, error) { return os.Executable() }

// apart is as on Linux, but for this program's being killed: the run then goes on to its end.
func apart() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
