package polling

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"lockcheck/clusters/client"
)

// Held is what a client holds: its grants that were not given back for certain. The zero value holds nothing.
type Held struct {
	mu     sync.Mutex
	grants map[client.Grant]bool
	closed bool
}

// Add takes up a grant.
func (h *Held) Add(g client.Grant) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.grants == nil {
		h.grants = map[client.Grant]bool{}
	}
	h.grants[g] = true
}

// Remove is for a grant that was given back for certain.
func (h *Held) Remove(g client.Grant) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.grants, g)
}

// Closed reports whether the client asks for no more locks.
func (h *Held) Closed() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.closed
}

// Close gives back all locks that are held, all at once, and waits for it as long as ctx lets it.
func (h *Held) Close(ctx context.Context) error {
	grants := h.close()
	released := make(chan error, len(grants))
	for _, g := range grants {
		go func() {
			_, err := g.Release(ctx)
			released <- err
		}()
	}
	var errs []error
	for range grants {
		select {
		case err := <-released:
			errs = append(errs, err)
		case <-ctx.Done():
			return errors.Join(append(errs, fmt.Errorf("giving back what is held: %w", ctx.Err()))...)
		}
	}
	return errors.Join(errs...)
}

func (h *Held) close() (grants []client.Grant) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	for g := range h.grants {
		grants = append(grants, g)
	}
	return grants
}
