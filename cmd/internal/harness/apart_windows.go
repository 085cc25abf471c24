package harness

import (
	"os"
	"syscall"
)

// Self is this program.
func Self() (string, error) { return os.Executable() }

// apart leaves the run in this program's group: Windows has no other way to interrupt it than the terminal's Ctrl-C, which
// reaches both.
func apart() *syscall.SysProcAttr { return nil }
