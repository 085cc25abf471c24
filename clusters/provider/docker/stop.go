package docker

import (
	"context"
	"fmt"
	"strconv"
	"syscall"

	"lockcheck/clusters"
	"lockcheck/clusters/provider/docker/sandbox"
)

var (
	_ clusters.Stopper = (*child)(nil)
	_ clusters.Stopper = (*confined)(nil)
)

// Stop asks the process itself, not what it forked.
func (c *child) Stop(ctx context.Context) error {
	if _, err := c.ask(ctx, sandbox.Quit); err != nil && !isClosed(c.done) {
		return err
	}
	return awaitQuit(ctx, c.what, c.done, syscall.SIGTERM)
}

// Stop has the engine ask the container's first process, which it knows.
func (p *confined) Stop(ctx context.Context) error {
	if isClosed(p.done) {
		return p.endedError()
	}
	err := p.host.site.engine.ContainerKill(ctx, p.id, strconv.Itoa(int(p.quit)))
	if err != nil && !isClosed(p.done) {
		return fmt.Errorf("ask %s to end: %w", p.what, err)
	}
	return awaitQuit(ctx, p.what, p.done, p.quit)
}

func awaitQuit(ctx context.Context, what string, done <-chan struct{}, quit syscall.Signal) error {
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%s did not end after signal %d: %w", what, int(quit), ctx.Err())
	}
}
