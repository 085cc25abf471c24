package etcd

import (
	"context"
	"errors"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"lockcheck/checker/history"
	"lockcheck/clusters/client"
)

// leaseTxns is the lock of most tutorials: grant a lease for it and keep it alive; put the lock's only key with the lease
// in a transaction that needs the key not to be there; to unlock, stop the keep-alives and revoke the lease, which takes
// the key with it. A revocation does not say whether the key was there, so no release proves ownership. Waiting is
// done by watching the key, and all who wait try again at once.
//
// The library's session is what tutorials write by hand: a lease, and a goroutine that reads the keep-alives' answers
// until their channel is closed.
var leaseTxns = recipe{
	name: "lease-txn", try: "atomic", single: true,
	record:   func(key string, _ clientv3.LeaseID) string { return prefix(key) },
	token:    revisionToken,
	outcomes: leaseTxnOutcomes,
	// All clients share the lock's key, but none of them deletes it: a lease takes with it only what was put under it, and
	// each grant has a lease of its own.
	release: history.ReleaseChecked,
	ask: func(l *locks, of *session, key string) request {
		return &leaseTxn{locks: l, session: of, key: prefix(key)}
	},
}

type leaseTxn struct {
	locks   *locks
	session *session
	key     string
	doubt   bool // a revocation may have been carried out without an answer
}

// Errors of the recipe, each after an answer that the key was another's: no request of this client is left behind.
var (
	errHeld     = errors.New("the lock's key is there already")
	errGivenUp  = errors.New("given up while another held the lock")
	errLeaseEnd = errors.New("the lease ended while another held the lock")
)

func (t *leaseTxn) lock(ctx context.Context, try bool) error {
	for {
		resp, err := t.locks.etcd.Txn(ctx).
			If(clientv3.Compare(clientv3.CreateRevision(t.key), "=", 0)).
			Then(clientv3.OpPut(t.key, t.locks.name, clientv3.WithLease(t.session.Lease()))).
			Else(clientv3.OpGet(t.key)).
			Commit()
		switch {
		case err != nil:
			return err
		case resp.Succeeded:
			return nil
		case try:
			return errHeld
		}
		client.Queued(ctx)
		if err := t.awaitDelete(ctx, resp.Header.Revision+1); err != nil {
			return err
		}
	}
}

// retryPause is how long a lock is left alone after a watch that broke.
const retryPause = 100 * time.Millisecond

// awaitDelete returns once it is worth a try again: the key was deleted at the revision or later, or the watch broke.
func (t *leaseTxn) awaitDelete(ctx context.Context, revision int64) error {
	watching, stop := context.WithCancel(ctx)
	defer stop()
	deleted := t.locks.etcd.Watch(watching, t.key, clientv3.WithRev(revision), clientv3.WithFilterPut())
	var again <-chan time.Time
	for {
		select {
		case event, ok := <-deleted:
			switch {
			case !ok || event.Err() != nil:
				deleted, again = nil, time.After(retryPause)
			case len(event.Events) > 0:
				return nil
			}
		case <-again:
			return nil
		case <-t.session.Done():
			return errLeaseEnd
		case <-ctx.Done():
			return errGivenUp
		}
	}
}

// unlock revokes the lease. That it is not there is a failure only if no earlier revocation can have removed it: the
// library repeats one whose answer was lost, and so may the caller.
func (t *leaseTxn) unlock(ctx context.Context) error {
	err := t.locks.sessions.revoke(ctx, t.session)
	t.doubt = t.doubt || attemptOf(ctx).unanswered()
	if isLeaseGone(err) {
		if t.doubt {
			return nil
		}
		return errGone
	}
	return err
}

var errGone = errors.New("the lease, and with it the lock's key, was gone before the release")

var leaseTxnOutcomes = append([]outcome{
	{errHeld, history.CodeBusy, "the transaction was answered: the key was there, so nothing was put"},
	{errGivenUp, history.CodeCancelled, "the last transaction was answered: the key was there, so nothing was put"},
	{errLeaseEnd, history.CodeRefused, "the last transaction was answered: the key was there, so nothing was put"},
	{errGone, history.CodeNotOwned, "the server answered that the lease is not there, to the only revocation that was sent"},
}, serverOutcomes...)
