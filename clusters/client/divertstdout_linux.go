package client

import (
	"os"

	"golang.org/x/sys/unix"
)

// divert puts a pipe in the place of standard output. own is what standard output was, read is the pipe's other end.
func divert() (own, read *os.File, err error) {
	was, err := unix.FcntlInt(stdout, unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, nil, err
	}
	own = os.NewFile(uintptr(was), "the protocol's standard output")
	read, write, err := os.Pipe()
	if err != nil {
		own.Close()
		return nil, nil, err
	}
	defer write.Close()
	if err := unix.Dup3(int(write.Fd()), stdout, 0); err != nil {
		own.Close()
		read.Close()
		return nil, nil, err
	}
	return own, read, nil
}

// restore has what is printed from now on go to standard error.
func restore() { _ = unix.Dup3(int(os.Stderr.Fd()), stdout, 0) }
