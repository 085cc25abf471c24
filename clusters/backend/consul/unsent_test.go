package consul

import (
	"testing"

	"lockcheck/checker/history"
	"lockcheck/clusters/client"
	"lockcheck/clusters/testkit/clientkit"
)

func TestWithoutAListenerNothingWasSent(t *testing.T) {
	lock, _, _ := clientkit.Client(t, newLocks, client.Init{Endpoints: []string{"127.0.0.1:1"}, TTLMS: 2000}) // below the ports that the kernel gives away
	_, err := lock.Acquire(t.Context(), "k", false)
	clientkit.WantCode(t, err, history.CodeRefused)
}
