package lockclient

import (
	"context"
	"fmt"
	"sync"

	"lockcheck/clusters/client"
)

// Held is what a client holds, for a library that gives nothing back by itself when its program ends. The zero value holds
// nothing.
type Held struct{ grants sync.Map }

// Add takes up a grant.
func (h *Held) Add(g client.Grant) { h.grants.Store(g, true) }

// Remove is for a grant that was given back.
func (h *Held) Remove(g client.Grant) { h.grants.Delete(g) }

// Close gives back all locks that are held, all at once, and waits for it as long as ctx lets it.
func (h *Held) Close(ctx context.Context) error {
	var releasing sync.WaitGroup
	h.grants.Range(func(g, _ any) bool {
		releasing.Go(func() { _, _ = g.(client.Grant).Release(ctx) })
		return true
	})
	released := make(chan struct{})
	go func() {
		releasing.Wait()
		close(released)
	}()
	select {
	case <-released:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("giving back what is held: %w", ctx.Err())
	}
}
