package docker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
)

// arrivals counts the bytes that a process printed and that are in its pipe here.
type arrivals struct {
	mu    sync.Mutex
	more  *sync.Cond
	count int64
	over  bool // nothing arrives any more
}

func newArrivals() *arrivals {
	a := &arrivals{}
	a.more = sync.NewCond(&a.mu)
	return a
}

// pass passes bytes on and counts them until there are no more. Where the reader is gone they are thrown away: the
// process is not to be held up by it.
func (a *arrivals) pass(to io.Writer, from io.Reader) {
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if n > 0 {
			_, _ = to.Write(buffer[:n])
		}
		a.mu.Lock()
		a.count += int64(n)
		a.over = err != nil
		a.more.Broadcast()
		a.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// await waits until that many bytes have arrived in all.
func (a *arrivals) await(ctx context.Context, count int64) error {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	stop := context.AfterFunc(ctx, func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.more.Broadcast()
	})
	defer stop()
	a.mu.Lock()
	defer a.mu.Unlock()
	for a.count < count && !a.over && ctx.Err() == nil {
		a.more.Wait()
	}
	if a.count < count {
		return fmt.Errorf("%d of %d bytes: %w", a.count, count, errors.Join(ctx.Err(), io.ErrUnexpectedEOF))
	}
	return nil
}
