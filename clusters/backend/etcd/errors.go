package etcd

import (
	"context"
	"errors"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"go.etcd.io/etcd/client/v3/concurrency"

	"lockcheck/checker/history"
	"lockcheck/clusters/client"
)

// The server's word that a lease is not there any more.
var (
	errLeaseGone = rpctypes.ErrLeaseNotFound
	errRevoked   = errors.New("its lease was revoked, as this client asked")
)

func isLeaseGone(err error) bool {
	return err != nil && errors.Is(rpctypes.Error(err), errLeaseGone)
}

// outcome is what an error of the recipe proves about the request for the lock, or its removal.
type outcome struct {
	err  error
	code string // of a definite failure; "" if unknown
	why  string
}

// serverOutcomes is what the server's errors mean in every recipe; each has a table that begins with its own. A table is
// searched in order; what is not in it is unknown. The unknown ones that are in it are those which one might take for
// definite: the reason is there so that none is moved.
//
// That a request was not sent at all is proven elsewhere (sendings), by observation and not by the error's text.
var serverOutcomes = []outcome{
	{errLeaseGone, history.CodeRefused,
		"a put under a lease that is not there fails as a whole when it is applied: no key was made"},
	{rpctypes.ErrTooManyRequests, history.CodeRefused,
		"the member refuses before it proposes, because too much that is committed is not applied yet"},
	{rpctypes.ErrNoSpace, history.CodeRefused,
		"over its quota a member refuses before it proposes, and every member refuses when it applies"},
	{rpctypes.ErrRequestTooLarge, history.CodeRefused,
		"the member refuses before it proposes"},

	{context.Canceled, "", "says when the client stopped waiting, nothing about the server"},
	{context.DeadlineExceeded, "", "says when the client stopped waiting, nothing about the server"},
	{rpctypes.ErrTimeout, "", "the member stopped waiting for its proposal, which may still be committed"},
	{rpctypes.ErrTimeoutDueToLeaderFail, "", "the proposal may have reached the next leader"},
	{rpctypes.ErrTimeoutDueToConnectionLost, "", "the proposal may have reached the leader"},
	{rpctypes.ErrLeaderChanged, "", "the proposal may have been committed by the old leader or the new one"},
	{rpctypes.ErrNoLeader, "", "some paths say so after they proposed"},
	{rpctypes.ErrStopped, "", "a member that is shutting down says so of proposals which are already under way"},
	{rpctypes.ErrUnhealthy, "", "says nothing about this request"},
}

// judge makes a definite failure of an error that the table says is one, and leaves any other as it is.
func judge(err error, table []outcome) error {
	known := rpctypes.Error(err)
	for _, o := range table {
		if errors.Is(err, o.err) || errors.Is(known, o.err) {
			if o.code == "" {
				return err
			}
			return &client.Error{Code: o.code, Err: err}
		}
	}
	return err
}

// givenUpCode is the code of a request for the lock whose removal was acknowledged.
func givenUpCode(err error) string {
	if errors.Is(err, concurrency.ErrLocked) {
		return history.CodeBusy
	}
	return history.CodeCancelled
}

func isDefinite(err error) bool {
	var definite *client.Error
	return err == nil || errors.As(err, &definite)
}
