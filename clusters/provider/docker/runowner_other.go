//go:build !linux

package docker

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"
)

// owner names this process, as far as that can be done without /proc: by its id on this machine.
func owner() (string, error) {
	machine, err := machine()
	return fmt.Sprintf("%s/%d/0", machine, os.Getpid()), err
}

func machine() (string, error) {
	name, err := os.Hostname()
	return runtime.GOOS + "/" + name, err
}

// processGone reports whether there is no process of that id. One that is there may be another by now: what its run left is
// then taken for that of another machine.
func processGone(pid int, _ uint64) (gone, known bool) {
	process, err := os.FindProcess(pid)
	if err != nil { // on Windows it is asked for
		return true, true
	}
	defer process.Release()
	err = process.Signal(syscall.Signal(0))
	gone = errors.Is(err, os.ErrProcessDone) || errors.Is(err, syscall.ESRCH)
	return gone, gone
}

// mayUse reports whether there is a socket.
func mayUse(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// ownSession is nothing here: a janitor ignores what is for the terminal.
func ownSession() *syscall.SysProcAttr { return nil }

// ownPath is this program's file.
func ownPath() (string, error) { return os.Executable() }
