package harness

import (
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/windows"
)

// Self is this program.
func Self() (string, error) { return os.Executable() }

// apart leaves the run in this program's group: Windows has no other way to interrupt it than the terminal's Ctrl-C, which
// reaches both.
func apart() *syscall.SysProcAttr { return nil }

// kernel is the version of Windows.
func kernel() string {
	major, minor, build := windows.RtlGetNtVersionNumbers()
	return fmt.Sprintf("%d.%d.%d", major, minor, build)
}
