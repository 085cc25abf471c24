package main

import (
	"context"
	"testing"
	"time"

	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"lockcheck/checker/history"
	"lockcheck/clusters/client"
	"lockcheck/clusters/testkit/clientkit"
)

// slowLock is a server's record whose replacement takes as long as a test wants.
type slowLock struct {
	resourcelock.Interface
	holder  string
	asked   chan struct{}
	answers chan struct{}
}

func (l *slowLock) Identity() string { return "a" }

func (l *slowLock) Get(context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	return &resourcelock.LeaderElectionRecord{HolderIdentity: l.holder}, nil, nil
}

func (l *slowLock) Update(context.Context, resourcelock.LeaderElectionRecord) error {
	close(l.asked)
	<-l.answers
	return nil
}

// givingUp is a leader whose elector gives up by itself, finding a holder's record, and is in the middle of that.
func givingUp(t *testing.T, holder string) (*term, *slowLock, *clientkit.Watched) {
	t.Helper()
	w := clientkit.NewWatched()
	l := &slowLock{holder: holder, asked: make(chan struct{}), answers: make(chan struct{})}
	ctx, cancel := context.WithCancel(t.Context())
	x := &term{identity: "a", locks: &locks{variant: held, watch: w}, cancel: cancel, ended: make(chan struct{})}
	x.record = &record{Interface: l, watch: w, acquire: t.Context(), elector: ctx, grant: grant{granted: true}}
	go func() { // as LeaderElector.release does, and Run after it
		defer close(x.ended)
		defer x.stopped(errStopped)
		if _, _, err := x.record.Get(t.Context()); err != nil {
			t.Error(err)
		}
		if err := x.record.Update(t.Context(), resourcelock.LeaderElectionRecord{}); err != nil {
			t.Error(err)
		}
	}()
	<-l.asked
	return x, l, w
}

// A release that is asked for when the elector has sent by itself what gives the record back: that was before, so neither "owned"
// nor "removed" is the release's, and the loss is told.
func TestAReleaseIsNotWhatTheElectorHadSentBefore(t *testing.T) {
	for name, holder := range map[string]string{"its own record": "a", "another's": "b", "one without a holder": ""} {
		t.Run(name, func(t *testing.T) {
			x, l, w := givingUp(t, holder)
			type answer struct {
				owned *bool
				err   error
			}
			answered := make(chan answer, 1)
			go func() {
				owned, err := x.Release(t.Context())
				answered <- answer{owned, err}
			}()
			clientkit.Eventually(t, "it is released", x.releasing.Load)
			close(l.answers)
			got := <-answered
			if got.owned != nil {
				t.Errorf("owned %v", *got.owned)
			}
			clientkit.WantCode(t, got.err, history.CodeNotOwned)
			w.WantLoss(t, "a")
		})
	}
}

// A record without a holder is taken from no one.
func TestWhoReplacesAFreeRecordRemovesNothing(t *testing.T) {
	for holder, want := range map[string]bool{"a": false, "b": true, "": false} {
		x, l, _ := givingUp(t, holder)
		close(l.answers)
		<-x.ended
		if got := x.record.last().othersUnasked(); got != want {
			t.Errorf("holder %q: it removed another's record: %v", holder, got)
		}
	}
}

// An elector that waits for a ping, before it gives a record back by itself, does not wait on when it is asked to end: a harness that
// has closed its client sends no ping any more.
func TestAnElectorThatIsAskedToEndWaitsForNoPing(t *testing.T) {
	c := clientkit.Serve(t, func(_ context.Context, _ client.Init, watch client.Watch) (client.Lock, client.Ready, error) {
		return &tidying{watch: watch}, client.Ready{Tokens: string(history.TokensNone), TokensReason: "a test"}, nil
	}, client.Init{Endpoints: []string{"none:1"}, TTLMS: 1000})
	c.Acquire(1, "k")
	if answer := c.Await(client.MsgFail, 1); answer.Code != given {
		t.Errorf("the record was not given back: %s", answer.Error)
	}
}

const given = "given-back"

// tidying is a client whose acquire is an elector's giving back, during which the elector is asked to end.
type tidying struct{ watch client.Watch }

func (l *tidying) Acquire(ctx context.Context, _ string, _ bool) (client.Grant, error) {
	elector, end := context.WithCancel(ctx)
	defer time.AfterFunc(50*time.Millisecond, end).Stop()
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	s := &slowLock{asked: make(chan struct{}), answers: make(chan struct{})}
	close(s.answers)
	r := &record{Interface: s, watch: l.watch, elector: elector}
	if err := r.giveBack(ctx, resourcelock.LeaderElectionRecord{}); err != nil {
		return nil, client.Definite(history.CodeRefused, "%w", err)
	}
	return nil, client.Definite(given, "given back")
}

func (l *tidying) Close(context.Context) error { return nil }
