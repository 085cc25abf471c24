//go:build !linux

package sandbox

import (
	"context"
	"fmt"
	"runtime"

	"lockcheck/clusters"
)

// Main is refused: the first process of a container is a Linux program.
func Main() error {
	return fmt.Errorf("%w: a sandbox needs Linux, and this is %s", clusters.ErrUnavailable, runtime.GOOS)
}

// Enter is refused: so is the first process of a lock client's container.
func Enter(context.Context, []string) error { return Main() }
