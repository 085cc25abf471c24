package redistest

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"lockcheck/clusters"
	"lockcheck/workloads/client"
)

// Watched is what a client said on its own, in order, with a ping number that grows with every look.
type Watched struct {
	mu     sync.Mutex
	pings  int64
	leases map[string][]Lease
	ended  []string
	lost   map[string]error
}

// Lease is a report of a lease.
type Lease struct {
	Seen int64
	TTL  time.Duration
}

func (w *Watched) Seen() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pings++
	return w.pings
}

func (w *Watched) Lease(session string, seen int64, ttl time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.leases[session] = append(w.leases[session], Lease{seen, ttl})
}

func (w *Watched) Ended(session string, _ error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended = append(w.ended, session)
}

func (w *Watched) Lost(session string, why error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lost[session] = why
}

// Leases are the reports for a session.
func (w *Watched) Leases(session string) []Lease {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.leases[session])
}

// SaidEnded tells whether the servers said that a session is over.
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

// Client makes a lock client.
func Client(t *testing.T, factory client.Factory, init client.Init) (client.Lock, *Watched, client.Ready) {
	t.Helper()
	w := &Watched{leases: map[string][]Lease{}, lost: map[string]error{}}
	init.Protocol, init.Name = client.ProtocolVersion, "c"
	lock, ready, err := factory(t.Context(), init, w)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		lock.Close(ctx)
	})
	return lock, w, ready
}

// InitFor is what a client of a running cluster is told.
func InitFor(c clusters.Cluster, ttl time.Duration) client.Init {
	init := client.Init{Endpoints: c.Endpoints(), TTLMS: ttl.Milliseconds()}
	if more, ok := c.(clusters.ClientOptions); ok {
		init.Options = more.ClientOptions()
	}
	return init
}

// Acquire waits for a lock.
func Acquire(t *testing.T, lock client.Lock, key string) client.Grant {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	g, err := lock.Acquire(ctx, key, false)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// Release gives a lock back, which has to succeed.
func Release(t *testing.T, g client.Grant) *bool {
	t.Helper()
	owned, err := g.Release(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return owned
}

// WantOwned checks what a release proved: "true", "false" or "unknown".
func WantOwned(t *testing.T, owned *bool, want string) {
	t.Helper()
	got := "unknown"
	if owned != nil {
		got = map[bool]string{true: "true", false: "false"}[*owned]
	}
	if got != want {
		t.Errorf("owned %s, want %s", got, want)
	}
}

// WantCode checks for a definite failure.
func WantCode(t *testing.T, err error, code string) {
	t.Helper()
	var definite *client.Error
	if !errors.As(err, &definite) || definite.Code != code {
		t.Errorf("error %v (%T), want a definite %q", err, err, code)
	}
}

// WantUnknown checks for a failure that proves nothing.
func WantUnknown(t *testing.T, err error) {
	t.Helper()
	var definite *client.Error
	if err == nil || errors.As(err, &definite) {
		t.Errorf("error %v (%T), want one that proves nothing", err, err)
	}
}
