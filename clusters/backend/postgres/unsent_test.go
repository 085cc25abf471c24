package postgres

import (
	"context"
	"testing"

	"lockcheck/checker/history"
	"lockcheck/clusters/client"
	"lockcheck/clusters/client/sqlsession"
	"lockcheck/clusters/testkit/clientkit"
)

func TestWithoutAListenerNothingIsSent(t *testing.T) {
	for _, factory := range []client.Factory{newAdvisory, newForUpdate, newRowLease} {
		lock, _, _ := clientkit.Client(t, factory, client.Init{Endpoints: []string{"127.0.0.1:1"}, TTLMS: 1000}) // below the ports that the kernel gives away
		_, err := lock.Acquire(t.Context(), "k", true)
		clientkit.WantCode(t, err, history.CodeRefused)
		ctx, cancel := context.WithTimeout(t.Context(), 5*sqlsession.LongestPoll)
		defer cancel()
		_, err = lock.Acquire(ctx, "k", false)
		clientkit.WantCode(t, err, history.CodeCancelled)
	}
}
