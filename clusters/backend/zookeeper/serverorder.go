package zookeeper

import "sync"

// inOrder names the servers to the library in the order of the client's seed. Otherwise it does what the library's own
// provider does: one after the other, with a pause once all were tried since the last that worked.
type inOrder struct {
	servers []string

	mu       sync.Mutex
	at, last int // -1 before the first
}

// Init is given the servers in an order that the library drew, and does not look at it.
func (h *inOrder) Init([]string) error { return nil }

// Len is the number of servers.
func (h *inOrder) Len() int { return len(h.servers) }

// Next is the server to try now, and whether all were tried.
func (h *inOrder) Next() (server string, retryStart bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.at = (h.at + 1) % len(h.servers)
	retryStart = h.at == h.last
	h.last = max(h.last, 0)
	return h.servers[h.at], retryStart
}

// Connected says that the server named last works.
func (h *inOrder) Connected() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.last = h.at
}
