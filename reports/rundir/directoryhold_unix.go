//go:build unix

package rundir

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Hold takes a directory for this process until release is called or the process ends, however it ends. The error is ErrHeld if
// another has it. A file system without locks holds nothing.
func Hold(dir string) (release func(), err error) {
	held, err := os.Open(dir)
	if err != nil {
		return nil, fmt.Errorf("cannot open the directory: %w", err)
	}
	if err := unix.Flock(int(held.Fd()), unix.LOCK_EX|unix.LOCK_NB); errors.Is(err, unix.EWOULDBLOCK) {
		held.Close()
		return nil, ErrHeld
	}
	return func() { held.Close() }, nil
}
