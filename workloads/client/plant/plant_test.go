package plant

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"time"

	"lockcheck/workloads/client"
)

// honest is a lock with tokens that grow; it tells what was asked of it.
type honest struct {
	watch    client.Watch
	acquired int
	released int
}

type honestGrant struct {
	*honest
	token int
}

func (h *honest) Acquire(context.Context, string, bool) (client.Grant, error) {
	h.acquired++
	return honestGrant{h, h.acquired}, nil
}
func (h *honest) Close(context.Context) error { return nil }

func (g honestGrant) Session() string  { return "s" }
func (g honestGrant) Token() string    { return strconv.Itoa(g.token) }
func (g honestGrant) Seen() int64      { return 1 }
func (g honestGrant) Valid() time.Time { return time.Time{} }
func (g honestGrant) Release(context.Context) (*bool, error) {
	g.released++
	return nil, nil
}

type ears struct{ lost, ended int }

func (e *ears) Seen() int64                        { return 7 }
func (e *ears) Lease(string, int64, time.Duration) {}
func (e *ears) Ended(string, error)                { e.ended++ }
func (e *ears) Lost(string, error)                 { e.lost++ }

func planted(t *testing.T, name string) (client.Lock, *honest, *ears) {
	t.Helper()
	lock, e := &honest{}, &ears{}
	for _, p := range Plants {
		if p.Name != name {
			continue
		}
		made, _, err := p.Wrap(func(_ context.Context, _ client.Init, watch client.Watch) (client.Lock, client.Ready, error) {
			lock.watch = watch
			return lock, client.Ready{}, nil
		})(t.Context(), client.Init{}, e)
		if err != nil {
			t.Fatal(err)
		}
		return made, lock, e
	}
	t.Fatalf("no plant %q", name)
	return nil, nil, nil
}

func grant(t *testing.T, lock client.Lock) client.Grant {
	t.Helper()
	g, err := lock.Acquire(t.Context(), "k", false)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestIgnoreLockAsksNobody(t *testing.T) {
	lock, inner, _ := planted(t, "ignore-lock")
	g := grant(t, lock)
	g.Release(t.Context())
	if inner.acquired != 0 || inner.released != 0 || g.Session() != "" || g.Seen() != 7 {
		t.Errorf("the lock was asked %d times, released %d times", inner.acquired, inner.released)
	}
}

func TestEarlyReleaseGivesBackAtOnceAndOnlyOnce(t *testing.T) {
	lock, inner, _ := planted(t, "early-release")
	g := grant(t, lock)
	if inner.released != 1 {
		t.Errorf("released %d times before the grant is used", inner.released)
	}
	g.Release(t.Context())
	if inner.released != 1 || g.Token() != "1" || g.Session() != "s" {
		t.Errorf("released %d times, token %s", inner.released, g.Token())
	}
}

func TestStaleTokenIsThatOfThePreviousGrant(t *testing.T) {
	lock, _, _ := planted(t, "stale-token")
	for i, want := range []string{"1", "1", "2"} {
		if g := grant(t, lock); g.Token() != want {
			t.Errorf("grant %d has token %s, want %s", i+1, g.Token(), want)
		}
	}
}

func TestSwallowLostSwallowsNothingElse(t *testing.T) {
	_, inner, e := planted(t, "swallow-lost")
	inner.watch.Lost("s", errors.New("expired"))
	inner.watch.Ended("s", errors.New("gone"))
	if e.lost != 0 || e.ended != 1 {
		t.Errorf("%d losses and %d ends were passed on", e.lost, e.ended)
	}
}
