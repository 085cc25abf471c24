package client

import (
	"sync"
	"time"
)

// KeptPings is how many pings both ends remember: some ten minutes at one every 20 ms. An older one is answered with
// "unknown", which is sound: a bound that is not known bounds nothing.
const KeptPings = 1 << 15

// heardPings is the client's side of the pings: the number of the last ping that was read, and when each was read by
// the client's own clock. A request that carries seen n was sent after ping n was read, so the reading is a lower bound
// of the sending on the client's clock as the moment at which the ping was sent is one on the harness's.
type heardPings struct {
	mu    sync.Mutex
	last  int64
	start time.Time // of the conversation: when "ping 0" was read
	at    map[int64]time.Time
	next  chan struct{} // closed by the next one; nil while no operation waits for it
}

func newHeardPings() *heardPings {
	return &heardPings{start: time.Now(), at: map[int64]time.Time{}}
}

// hear takes ping n. It forgets the ping KeptPings before it, which the harness has forgotten too.
func (h *heardPings) hear(n int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.last = n
	h.at[n] = time.Now()
	delete(h.at, n-KeptPings)
	if h.next != nil {
		close(h.next)
		h.next = nil
	}
}

// awaitNext is closed when the next ping was read.
func (h *heardPings) awaitNext() <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.next == nil {
		h.next = make(chan struct{})
	}
	return h.next
}

// seen is the number of the last ping read, 0 before the first.
func (h *heardPings) seen() int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.last
}

// read is when ping n was read; for one that is forgotten it is the start, a bound that is worse and still true.
func (h *heardPings) read(n int64) time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	if at, ok := h.at[n]; ok {
		return at
	}
	return h.start
}
