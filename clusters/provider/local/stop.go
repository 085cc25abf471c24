//go:build linux

package local

import (
	"context"
	"fmt"

	"golang.org/x/sys/unix"
)

// Stop asks the program itself, not what it forked: that is the program's to end.
func (p *process) Stop(ctx context.Context) error {
	err := p.whileThere(func() error {
		if err := unix.Kill(p.PID(), p.quit); err != nil {
			return fmt.Errorf("send %v to %s (pid %d): %w", p.quit, p.what, p.PID(), err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	select {
	case <-p.done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%s (pid %d) did not end after %v: %w", p.what, p.PID(), p.quit, ctx.Err())
	}
}
