package plant

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"time"

	"lockcheck/checker/history"
	"lockcheck/clusters/client"
)

// honest is a lock with tokens that grow; it tells what was asked of it.
type honest struct {
	watch    client.Watch
	refusals []error // of the next attempts
	last     func()  // called with the last of them
	acquired int
	released int
}

type honestGrant struct {
	*honest
	token int
}

func (h *honest) Acquire(context.Context, string, bool) (client.Grant, error) {
	h.acquired++
	if len(h.refusals) > 0 {
		err := h.refusals[0]
		if h.refusals = h.refusals[1:]; len(h.refusals) == 0 {
			h.last()
		}
		return nil, err
	}
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

func TestIgnoreLockSendsNoRequest(t *testing.T) {
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

func TestPaddedTokenIsTheSameNumberWrittenOtherwise(t *testing.T) {
	lock, _, _ := planted(t, "padded-token")
	if g := grant(t, lock); g.Token() != "001" || g.Session() != "s" {
		t.Errorf("the grant has token %s, session %s", g.Token(), g.Session())
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

func TestLostWakeUpWaitsForEverOnceAnAttemptOfAWaiterHasFailed(t *testing.T) {
	busy, refused := client.Definite(history.CodeBusy, "held"), client.Definite(history.CodeRefused, "connection refused")
	for name, test := range map[string]struct {
		refusals []error
		attempts int
		code     string // of the error that it ends with once it is cancelled; "-": none; "": the outcome is unknown
	}{
		"nothing fails":                       {nil, 1, "-"},
		"the lock is held for a while":        {[]error{busy, busy}, 3, "-"},
		"the connection is refused":           {[]error{busy, refused}, 2, history.CodeCancelled},
		"what came of the attempt is unknown": {[]error{busy, errors.New("connection reset")}, 2, ""},
		"it does not wait yet":                {[]error{refused}, 1, history.CodeRefused},
	} {
		t.Run(name, func(t *testing.T) {
			lock, inner, _ := planted(t, "lost-wakeup")
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			inner.refusals, inner.last = test.refusals, func() {
				if test.code != "-" { // else it would wait for ever
					cancel()
				}
			}
			_, err := lock.Acquire(ctx, "k", false)
			var definite *client.Error
			code := "-"
			if errors.As(err, &definite) {
				code = definite.Code
			} else if err != nil {
				code = ""
			}
			if code != test.code || inner.acquired != test.attempts {
				t.Errorf("%d attempts, and %v", inner.acquired, err)
			}
		})
	}
}
