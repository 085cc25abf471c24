package driver

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// readEvery is how often a pipe is looked at, which cannot be waited for on Windows. What is found late is stamped late, which
// can hide something and never invents it (rule R1).
const readEvery = time.Millisecond

var peekNamedPipe = windows.NewLazySystemDLL("kernel32.dll").NewProc("PeekNamedPipe")

// whenReadable calls take again and again, until that returns an error.
func whenReadable(pipe *os.File, take func(fd uintptr) error) error {
	for {
		var ended error
		if err := control(pipe, func(fd uintptr) { ended = take(fd) }); err != nil || ended != nil {
			return cmp.Or(ended, err)
		}
		time.Sleep(readEvery)
	}
}

// readThere reads what is there without waiting: 0 bytes if that is nothing, io.EOF once nothing will be.
func readThere(fd uintptr, buffer []byte) (n int, err error) {
	waiting, err := peek(fd)
	if waiting == 0 || err != nil {
		return 0, err
	}
	var done uint32
	err = windows.ReadFile(windows.Handle(fd), buffer[:min(waiting, len(buffer))], &done, nil)
	return int(done), err
}

// unread is how many bytes wait in a pipe.
func unread(pipe *os.File) (n int, err error) {
	var asked error
	err = control(pipe, func(fd uintptr) { n, asked = peek(fd) })
	if errors.Is(asked, io.EOF) {
		asked = nil
	}
	return n, cmp.Or(asked, err)
}

func control(pipe *os.File, do func(fd uintptr)) error {
	raw, err := pipe.SyscallConn()
	if err != nil {
		return err
	}
	return raw.Control(do)
}

// peek is how many bytes wait; io.EOF if there are none and no one is left to write any.
func peek(fd uintptr) (n int, err error) {
	var waiting uint32
	ok, _, err := peekNamedPipe.Call(fd, 0, 0, 0, uintptr(unsafe.Pointer(&waiting)), 0)
	switch {
	case ok != 0:
		return int(waiting), nil
	case errors.Is(err, windows.ERROR_BROKEN_PIPE):
		return 0, io.EOF
	}
	return 0, fmt.Errorf("looking into a pipe: %w", err)
}
