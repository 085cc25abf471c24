//go:build !linux

package shaper

import (
	"fmt"
	"runtime"
)

func refused() error {
	return fmt.Errorf("limiting a rate needs Linux's tbf, and this is %s", runtime.GOOS)
}

// Try is refused.
func Try() error { return refused() }

// Limit is refused.
func Limit(int64) error { return refused() }

// Unlimit is refused.
func Unlimit() error { return refused() }

// HeldBack is refused.
func HeldBack() (packets uint64, err error) { return 0, refused() }
