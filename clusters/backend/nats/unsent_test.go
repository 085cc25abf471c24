package nats

import (
	"context"
	"testing"

	"lockcheck/checker/history"
	"lockcheck/clusters/client"
	"lockcheck/clusters/testkit/clientkit"
)

func TestWithoutAListenerNothingWasSent(t *testing.T) {
	const closed = "127.0.0.1:1" // below the ports that the kernel gives away
	lock, _, _ := clientkit.Client(t, kv.factory, client.Init{Endpoints: []string{closed}, TTLMS: 1000, Options: map[string]string{optionBucket: bucketName}})
	_, err := lock.Acquire(t.Context(), "k", true)
	clientkit.WantCode(t, err, history.CodeRefused)
	ctx, cancel := context.WithTimeout(t.Context(), 5*longestPoll)
	defer cancel()
	_, err = lock.Acquire(ctx, "k", false)
	clientkit.WantCode(t, err, history.CodeCancelled)
}
