package testkit

import (
	"fmt"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"lockcheck/clusters/testkit/needs"
)

// Pseudo is a terminal of a size, and the end that sees what is written to it, and types. A machine that gives out none skips the test.
func Pseudo(t *testing.T, size unix.Winsize) (terminal, seen *os.File) {
	t.Helper()
	seen, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		needs.Skip(t, "this machine gives out no terminal: ", err)
	}
	t.Cleanup(func() { seen.Close() })
	if err := unix.IoctlSetPointerInt(int(seen.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(int(seen.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { terminal.Close() })
	if err := unix.IoctlSetWinsize(int(terminal.Fd()), unix.TIOCSWINSZ, &size); err != nil {
		t.Fatal(err)
	}
	return terminal, seen
}
