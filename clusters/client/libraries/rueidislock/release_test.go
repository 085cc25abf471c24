package main

import (
	"errors"
	"slices"
	"testing"
	"time"

	"lockcheck/checker/history"
	"lockcheck/clusters/client"
)

// watch remembers the sessions that were said to be lost.
type watch struct{ lost []string }

func (w *watch) Seen() int64                        { return 0 }
func (w *watch) Lease(string, int64, time.Duration) {}
func (w *watch) Ended(string, error)                {}
func (w *watch) Lost(session string, _ error)       { w.lost = append(w.lost, session) }

// granted is a grant whose release waits, as the library's does, for the answer to the one request that removes its record. The
// library sends it before the release, if unasked.
func granted(unasked bool) (*grant, *watch) {
	w := &watch{}
	r := &requests{watch: w, alone: true, records: map[string]*record{}}
	rec := &record{session: "a", seen: 1, granted: true}
	if unasked {
		r.removes(rec, sending{seen: 3})
	}
	return &grant{locks: &locks{requests: r}, record: rec, cancel: func() {
		r.removes(rec, sending{seen: 5})
		r.mu.Lock()
		defer r.mu.Unlock()
		rec.removal = &removal{owned: true}
	}}, w
}

// An extension fails, the library sends the removal, and a release is asked for before that is answered: the removal is not the
// release's, and proves nothing of the time up to it. Nobody else tells of the loss.
func TestAReleaseIsNotTheRemovalThatWasSentBefore(t *testing.T) {
	g, w := granted(true)
	owned, err := g.Release(t.Context())
	if owned != nil {
		t.Errorf("owned %v", *owned)
	}
	var definite *client.Error
	if !errors.As(err, &definite) || definite.Code != history.CodeNotOwned || !slices.Equal(w.lost, []string{"a"}) {
		t.Errorf("%v, lost %q", err, w.lost)
	}
}

func TestAReleaseOfALockThatIsHeldProvesThatItWas(t *testing.T) {
	g, w := granted(false)
	if owned, err := g.Release(t.Context()); err != nil || owned == nil || !*owned {
		t.Errorf("owned %v, %v", owned, err)
	}
	if w.lost != nil {
		t.Errorf("lost %q", w.lost)
	}
}

// A removal that got no answer may take effect later, whoever asked for it.
func TestAnUnaskedRemovalWithoutAnswerLeavesTheReleaseUnknown(t *testing.T) {
	g, w := granted(true)
	none := errors.New("no answer")
	g.cancel = func() { g.record.removal = &removal{err: none} }
	if owned, err := g.Release(t.Context()); owned != nil || !errors.Is(err, none) {
		t.Errorf("owned %v, %v", owned, err)
	}
	if !slices.Equal(w.lost, []string{"a"}) {
		t.Errorf("lost %q", w.lost)
	}
}
