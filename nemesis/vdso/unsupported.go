//go:build !linux || !amd64

package vdso

import (
	"fmt"
	"runtime"
)

func refuse() error {
	return fmt.Errorf("%w: changing a process's clocks needs linux/amd64, and this is %s/%s", ErrUnsupported, runtime.GOOS, runtime.GOARCH)
}

// Apply gives a process's clocks a skew.
func Apply(pid int, skew Skew) (Report, error) { return Report{}, refuse() }

// Heal ends a process's skew.
func Heal(pid int) (Report, error) { return Report{}, refuse() }

// Read reads what a process's clocks show.
func Read(pid int) (State, error) { return State{}, refuse() }
