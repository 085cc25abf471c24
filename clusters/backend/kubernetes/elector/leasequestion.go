package main

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"lockcheck/checker/history"
	"lockcheck/clusters/client"
)

var _ client.Asker = (*term)(nil)

// Ask reads the Lease: from etcd's quorum, or as the API server has it in its watch cache (resource version 0, as informers begin). The
// elector has no such call, and its own LeaseLock is not asked: that remembers what it read last, and the elector's next write is built
// on that. Nor does an answer end the grant: it may be old, and the elector hears by itself.
func (t *term) Ask(ctx context.Context, question history.Question) (bool, error) {
	var how metav1.GetOptions
	if question == history.AskAnyCopy {
		how.ResourceVersion = "0"
	}
	lease, err := t.locks.client.Leases(t.locks.in).Get(ctx, t.lease, how)
	switch {
	case saysThereIsNone(err):
		return false, nil
	case err != nil:
		return false, err
	}
	return t.record.answered(question, resourcelock.LeaseSpecToLeaderElectionRecord(&lease.Spec))
}

// saysThereIsNone reports whether an API server answered that there is no such Lease. The 404 of what stands before it says nothing of that.
func saysThereIsNone(err error) bool {
	return apierrors.IsNotFound(err) && !apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse)
}

var errMadeAnew = errors.New("the elector has made the Lease anew, under the same identity and number: a copy does not say which of the two it has")

// answered says what a record proves that was found by a question: its holder is this grant's identity, and its number that of the grant.
// An elector that lost its Lease may take it again and have both once more, if the object was deleted: numbers then begin at 0.
func (r *record) answered(question history.Question, found *resourcelock.LeaderElectionRecord) (bool, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case found.HolderIdentity != r.Identity() || found.LeaderTransitions != r.grant.transitions:
		return false, nil
	case question == history.AskLatest:
		return r.over == nil, nil
	case r.anew:
		return false, errMadeAnew
	}
	return true, nil
}
