//go:build linux || darwin

package driver

import (
	"cmp"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// whenReadable calls take whenever there may be something to read in a pipe, until that returns an error.
func whenReadable(pipe *os.File, take func(fd uintptr) error) error {
	raw, err := pipe.SyscallConn()
	if err != nil {
		return err
	}
	var ended error
	err = raw.Read(func(fd uintptr) bool {
		ended = take(fd)
		return ended != nil
	})
	return cmp.Or(ended, err)
}

// readThere reads what is there without waiting: 0 bytes if that is nothing, io.EOF once nothing will be.
func readThere(fd uintptr, buffer []byte) (n int, err error) {
	for {
		n, err = unix.Read(int(fd), buffer)
		switch {
		case err == unix.EINTR:
		case err == unix.EAGAIN:
			return 0, nil
		case err != nil:
			return 0, err
		case n == 0:
			return 0, io.EOF
		default:
			return n, nil
		}
	}
}

// unread is how many bytes wait in a pipe.
func unread(pipe *os.File) (n int, err error) {
	raw, err := pipe.SyscallConn()
	if err != nil {
		return 0, err
	}
	var asked error
	err = raw.Control(func(fd uintptr) { n, asked = unix.IoctlGetInt(int(fd), fionread) })
	return n, cmp.Or(asked, err)
}
