//go:build linux

package sandbox

import (
	"io"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// tap is the reading end of what a process prints. It knows at any moment how much that was, those bytes included that
// still wait in the pipe.
type tap struct {
	pipe *os.File

	mu   sync.Mutex
	read int64
}

func newTap() (t *tap, theirs *os.File, err error) {
	pipe, theirs, err := os.Pipe()
	return &tap{pipe: pipe}, theirs, err
}

// total is exact once the processes that print are stopped.
func (t *tap) total() (int64, error) {
	raw, err := t.pipe.SyscallConn()
	if err != nil {
		return 0, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	var waiting int
	var asked error
	if err := raw.Control(func(fd uintptr) { waiting, asked = unix.IoctlGetInt(int(fd), unix.TIOCINQ) }); err != nil {
		return 0, err
	}
	return t.read + int64(waiting), asked
}

// pump passes everything on until the last process that prints has ended.
func (t *tap) pump(to io.WriteCloser) {
	defer to.Close()
	defer t.pipe.Close()
	raw, err := t.pipe.SyscallConn()
	if err != nil {
		return
	}
	buffer := make([]byte, 64<<10)
	for {
		n := t.next(raw, buffer)
		if n <= 0 {
			return
		}
		if _, err := to.Write(buffer[:n]); err != nil {
			return // there is no reader: the process gets SIGPIPE, as it would from a closed pipe
		}
	}
}

// rawReader is what is needed of syscall.RawConn.
type rawReader interface {
	Read(func(fd uintptr) (done bool)) error
}

// next reads and counts in one step: between the two, a byte would be neither in the pipe nor counted.
func (t *tap) next(raw rawReader, buffer []byte) (n int) {
	err := raw.Read(func(fd uintptr) bool {
		t.mu.Lock()
		defer t.mu.Unlock()
		var err error
		for {
			if n, err = unix.Read(int(fd), buffer); err != unix.EINTR {
				break
			}
		}
		if err == unix.EAGAIN {
			return false
		}
		t.read += int64(max(n, 0))
		return true
	})
	if err != nil {
		return 0
	}
	return n
}
