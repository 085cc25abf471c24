//go:build unix

package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// lockBuild waits until no other process builds in the directory, and keeps others from it until release is called or the process ends,
// however it ends. Several runs that are started at once, as compare and gallery start them, would otherwise all compile the same program.
func lockBuild(ctx context.Context, dir string) (release func(), err error) {
	file, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	for {
		err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil || !errors.Is(err, unix.EWOULDBLOCK) { // a file system without locks keeps no process out: each builds, and one program stays
			return func() { file.Close() }, nil
		}
		select {
		case <-ctx.Done():
			file.Close()
			return nil, fmt.Errorf("another process builds it in %s: %w", dir, ctx.Err())
		case <-time.After(200 * time.Millisecond):
		}
	}
}
