package main

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"lockcheck/checker/history"
	"lockcheck/clusters/client"
)

// giving is what became of the request with which an elector gives a record back when it ends.
type giving struct {
	sent    bool
	own     bool  // the record that it replaced, if any, was this grant's
	free    bool  // it had no holder
	unasked bool  // the elector was not asked to end: it gave up by itself
	seen    int64 // if so: the last ping read before it
	lost    bool  // it may have taken effect without an answer that says so
	err     error

	over    error // why the grant was over by then, as a server had said
	readErr error // of the question before it
}

// giveBack replaces the record that the elector has read just before by one without a holder. The elector goes by what it had
// seen earlier, and does not look whose record that is.
func (r *record) giveBack(ctx context.Context, of resourcelock.LeaderElectionRecord) error {
	r.mu.Lock()
	g := giving{sent: true, own: r.own(), free: r.read != nil && r.read.HolderIdentity == ""}
	r.mu.Unlock()
	var err error
	if g.unasked, g.seen, err = r.beforeGivingBack(ctx); err != nil {
		return err
	}
	ctx, sent := withSending(ctx)
	g.err = r.Interface.Update(ctx, of)
	g.lost = g.err != nil && sent.lost()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.giving = g
	return g.err
}

// beforeGivingBack waits for the ping after which the record is replaced. An elector that is asked to end while it waits, having
// begun to give up by itself, does not wait on: no ping may come any more.
func (r *record) beforeGivingBack(ctx context.Context) (unasked bool, seen int64, err error) {
	if r.elector.Err() == nil {
		waiting, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(r.elector, cancel)()
		seen, err = client.Tidying(waiting, r.watch)
		if err == nil && r.elector.Err() == nil {
			return true, seen, nil
		}
		if ctx.Err() != nil {
			return false, 0, ctx.Err()
		}
	}
	r.mu.Lock()
	release := r.release
	r.mu.Unlock()
	if release == nil {
		return false, 0, nil
	}
	return false, 0, client.Removing(release)
}

// othersUnasked reports whether a server has acknowledged that the elector, which gave up by itself, replaced a record that was
// another's. One that was free already it took from no one.
func (g giving) othersUnasked() bool {
	return g.sent && g.err == nil && !g.own && !g.free && g.unasked
}

// owned reports whether a server has acknowledged that it replaced this grant's own record.
func (g giving) owned() bool { return g.sent && g.err == nil && g.own }

// judge says what a release came to, whose context is ctx.
func (g giving) judge(ctx context.Context) (*bool, error) {
	switch {
	case g.owned():
		owned := true
		return &owned, nil
	case g.sent && g.err == nil && g.free:
		return nil, client.Definite(history.CodeNotOwned, "nothing was removed: the record that it replaced had no holder")
	case g.sent && g.err == nil:
		client.Removed(ctx)
		return nil, nil
	case g.sent && g.lost:
		return nil, g.err
	case g.sent:
		return nil, refusal(g.err)
	case g.over != nil:
		return nil, client.Definite(history.CodeNotOwned, "nothing was sent: %w", g.over)
	}
	return nil, client.Definite(history.CodeRefused, "nothing was sent: the elector could not read the record, or did not see it as its own (%v)", g.readErr)
}

// afterLoss says what a release came to of an elector that had ended by itself: it sends nothing more.
func (g giving) afterLoss() error {
	switch {
	case g.sent && g.err == nil:
		return client.Definite(history.CodeNotOwned, "nothing was sent: the elector had given a record back before it told of the loss")
	case g.over != nil:
		return client.Definite(history.CodeNotOwned, "nothing was sent: %w", g.over)
	}
	return client.Definite(history.CodeRefused, "nothing was sent: the elector had ended")
}

// refusals are the errors after which a request certainly changed nothing, and why. All others prove nothing.
var refusals = []struct {
	is  func(error) bool
	why string
}{
	{apierrors.IsConflict, "the server compares the resourceVersion and writes in one step: it has another record than was read"},
	{apierrors.IsAlreadyExists, "there is such a record already"},
	{apierrors.IsNotFound, "there is no such record"},
	{apierrors.IsInvalid, "refused by validation, before it is stored"},
	{apierrors.IsBadRequest, "refused before it is stored"},
	{apierrors.IsForbidden, "refused by authorization or admission, before it is stored"},
	{apierrors.IsUnauthorized, "refused by authentication, before it is stored"},
	{apierrors.IsTooManyRequests, "refused before it is handled: the server has too many requests at once"},
	{apierrors.IsRequestEntityTooLargeError, "refused before it is read"},
	{notSent, "there was no connection to send it on"},
}

// refusal makes a definite failure of an error that proves one, of a request of which every sending was answered or never left.
func refusal(err error) error {
	for _, r := range refusals {
		if r.is(err) {
			return client.Definite(history.CodeRefused, "%w (%s)", err, r.why)
		}
	}
	return fmt.Errorf("giving the record back: %w", err)
}
