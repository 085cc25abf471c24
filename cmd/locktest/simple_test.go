package locktest

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"lockcheck/clusters/client"
)

// heard is what a lock said to the harness.
type heard struct {
	pings int64
	lost  []string
}

func (h *heard) Seen() int64                        { return h.pings }
func (h *heard) Lease(string, int64, time.Duration) {}
func (h *heard) Ended(string, error)                {}
func (h *heard) Lost(session string, _ error)       { h.lost = append(h.lost, session) }

type locking = func(context.Context, string) (func(context.Context) error, <-chan struct{}, error)

func made(t *testing.T, watch client.Watch, lock locking) client.Lock {
	t.Helper()
	l, ready, err := Simple(lock)(t.Context(), client.Init{Endpoints: []string{"a:1"}, TTLMS: 1500}, watch)
	if err != nil || ready.Tokens != client.TokensNone || ready.TokensReason == "" || ready.Release != "" {
		t.Fatalf("%+v, %v", ready, err)
	}
	return l
}

func TestASimpleGrantIsBoundByThePingBeforeItsRequest(t *testing.T) {
	watch := &heard{pings: 7}
	l := made(t, watch, func(_ context.Context, key string) (func(context.Context) error, <-chan struct{}, error) {
		watch.pings = 9 // read while the request was on its way
		if key != "k1" || TTL() != 1500*time.Millisecond || len(Servers()) != 1 {
			t.Errorf("key %s, TTL %v, servers %v", key, TTL(), Servers())
		}
		return func(context.Context) error { return nil }, nil, nil
	})
	one, err := l.Acquire(t.Context(), "k1", false)
	if err != nil {
		t.Fatal(err)
	}
	two, _ := l.Acquire(t.Context(), "k1", false)
	if one.Seen() != 7 || one.Token() != "" || !one.Valid().IsZero() || one.Session() == two.Session() || one.Session() == "" {
		t.Errorf("%+v and %+v", one, two)
	}
}

// A loss is said once, of its own grant, and not after that was given back.
func TestASimpleLossIsThatOfItsGrant(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		watch := &heard{}
		var losses []chan struct{}
		var unlocked int
		l := made(t, watch, func(context.Context, string) (func(context.Context) error, <-chan struct{}, error) {
			lost := make(chan struct{})
			losses = append(losses, lost)
			return func(context.Context) error { unlocked++; return nil }, lost, nil
		})
		var grants []client.Grant
		for range 2 {
			g, err := l.Acquire(t.Context(), "k1", false)
			if err != nil {
				t.Fatal(err)
			}
			grants = append(grants, g)
		}
		close(losses[0])
		synctest.Wait()
		if len(watch.lost) != 1 || watch.lost[0] != grants[0].Session() {
			t.Errorf("lost are %v, want %s", watch.lost, grants[0].Session())
		}
		for range 2 { // a client that is closed gives back what it still holds
			if owned, err := grants[1].Release(t.Context()); owned != nil || err != nil {
				t.Errorf("the release says %v, %v", owned, err)
			}
		}
		synctest.Wait()
		close(losses[1])
		synctest.Wait()
		if len(watch.lost) != 1 || unlocked != 2 {
			t.Errorf("lost are %v after %d releases", watch.lost, unlocked)
		}
	})
}

// What is not known to have failed stays unknown; what the author says for certain is certain.
func TestSimpleErrorsStayUnknown(t *testing.T) {
	broken, busy := errors.New("reset"), client.Definite(client.CodeBusy, "held")
	for name, c := range map[string]struct {
		err      error
		definite bool
	}{"any": {broken, false}, "of the author's": {busy, true}} {
		l := made(t, &heard{}, func(context.Context, string) (func(context.Context) error, <-chan struct{}, error) {
			return nil, nil, c.err
		})
		var certain *client.Error
		if _, err := l.Acquire(t.Context(), "k1", true); !errors.Is(err, c.err) || errors.As(err, &certain) != c.definite {
			t.Errorf("%s: %v", name, err)
		}
	}
	l := made(t, &heard{}, func(context.Context, string) (func(context.Context) error, <-chan struct{}, error) {
		return nil, nil, nil
	})
	if _, err := l.Acquire(t.Context(), "k1", false); !errors.Is(err, errNoUnlock) {
		t.Errorf("neither unlock nor error: %v", err)
	}
	l = made(t, &heard{}, func(context.Context, string) (func(context.Context) error, <-chan struct{}, error) {
		return func(context.Context) error { return broken }, nil, nil
	})
	g, err := l.Acquire(t.Context(), "k1", false)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.Release(t.Context()); err != broken {
		t.Errorf("a release that is not known to have failed: %v", err)
	}
}

// A run that starts late enough to be cut off is refused before it starts.
func TestTheTimeToStartAndToFinishCounts(t *testing.T) {
	if err := timeFor(30*time.Second, 50*time.Second); err != nil {
		t.Error(err)
	}
	err := timeFor(30*time.Second, 49*time.Second)
	if err == nil || !strings.Contains(err.Error(), "-timeout leaves 49s, and the run takes up to 50s: a TimeLimit of 30s, and 20s to start and to finish") {
		t.Errorf("%v", err)
	}
}
