// Package clientkit is what the tests of lock clients have in common: a recorder of what a client says, requests
// that have to come out in a certain way, and a way to a server that can be held up.
package clientkit

import (
	"slices"
	"sync"
	"testing"
	"time"

	"lockcheck/clusters/client"
)

// Watched is what a client said on its own, in order, with a ping number that grows with every look.
type Watched struct {
	mu     sync.Mutex
	pings  int64
	leases []Lease
	ended  []string
	lost   map[string]error
	losses chan string
}

var _ client.Watch = (*Watched)(nil)

// Lease is a report of a lease.
type Lease struct {
	Session string
	Seen    int64
	TTL     time.Duration
}

// manyLosses is more than any test can make: the client that reports one does not wait for a reader.
const manyLosses = 100

// NewWatched has heard nothing yet.
func NewWatched() *Watched {
	return &Watched{lost: map[string]error{}, losses: make(chan string, manyLosses)}
}

// Seen is client.Watch, as are Lease, Ended and Lost.
func (w *Watched) Seen() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pings++
	return w.pings
}

func (w *Watched) Lease(session string, seen int64, ttl time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.leases = append(w.leases, Lease{session, seen, ttl})
}

func (w *Watched) Ended(session string, _ error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended = append(w.ended, session)
}

func (w *Watched) Lost(session string, why error) {
	w.mu.Lock()
	w.lost[session] = why
	w.mu.Unlock()
	w.losses <- session
}

// Leases are the reports for a session.
func (w *Watched) Leases(session string) []Lease {
	return slices.DeleteFunc(w.AllLeases(), func(l Lease) bool { return l.Session != session })
}

// AllLeases are the reports for all sessions.
func (w *Watched) AllLeases() []Lease {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.leases)
}

// SaidEnded reports whether the servers said that a session is over.
func (w *Watched) SaidEnded(session string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Contains(w.ended, session)
}

// WasLost is why a session was reported as lost, nil if it was not.
func (w *Watched) WasLost(session string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.lost[session]
}

// WantLoss waits for the next loss, which has to be that of a session.
func (w *Watched) WantLoss(t *testing.T, session string) {
	t.Helper()
	select {
	case lost := <-w.losses:
		if lost != session {
			t.Errorf("session %s is lost, want %s", lost, session)
		}
	case <-time.After(Timeout):
		t.Fatal("no loss signal")
	}
}

// WantNoLoss checks that no loss was reported that WantLoss has not waited for.
func (w *Watched) WantNoLoss(t *testing.T) {
	t.Helper()
	select {
	case session := <-w.losses:
		t.Errorf("session %s is said to be lost", session)
	default:
	}
}
