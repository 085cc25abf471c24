package client

import (
	"sync"
	"time"
)

// heardPings is the client's side of pingStamps: the number of the last ping that was read, and when each was read by
// the client's own clock. A request that carries seen n was sent after ping n was read, so the reading is a lower bound
// of the sending on the client's clock as stamp(n) is one on the harness's.
type heardPings struct {
	mu    sync.Mutex
	last  int64
	start time.Time // of the conversation: when "ping 0" was read
	at    map[int64]time.Time
}

func newHeardPings() *heardPings {
	return &heardPings{start: time.Now(), at: map[int64]time.Time{}}
}

// hear takes ping n. It forgets the ping keptPings before it, which the harness has forgotten too.
func (h *heardPings) hear(n int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.last = n
	h.at[n] = time.Now()
	delete(h.at, n-keptPings)
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
