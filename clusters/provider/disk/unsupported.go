//go:build !linux

package disk

import (
	"errors"
	"io"
)

var errNotHere = errors.New("faults of disks are made on Linux only")

// Available says that there is no such file system here.
func Available() error { return errNotHere }

// Serve serves nothing here.
func Serve([]string, io.Reader, io.Writer) error { return errNotHere }

// Detach has nothing to take away here.
func Detach(string) error { return errNotHere }
