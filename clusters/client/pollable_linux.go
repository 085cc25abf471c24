package client

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// pollable returns in so that a reader waits in Go's poller, not in a system call of a thread of its own: between a
// command that was read and the goroutine that carries it out there is then no other thread to be woken. Only a pipe is
// changed. This process is the one reader of a pipe, while the way in which a terminal is read belongs to all who have it.
func pollable(in io.Reader) io.Reader {
	file, ok := in.(*os.File)
	if !ok {
		return in
	}
	var is unix.Stat_t
	fd := int(file.Fd())
	if err := unix.Fstat(fd, &is); err != nil || is.Mode&unix.S_IFMT != unix.S_IFIFO {
		return in
	}
	// A descriptor of its own: a second file of the same one would close it under the first.
	own, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return in
	}
	if err := unix.SetNonblock(own, true); err != nil {
		unix.Close(own)
		return in
	}
	return os.NewFile(uintptr(own), file.Name())
}
