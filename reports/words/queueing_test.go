package words

import (
	"testing"
)

func TestQueueingOfAComparison(t *testing.T) {
	if got := QueueingOfRuns(3.24, 1204) + "|" + QueueingOfRuns(2, 0) + "|" + QueueingOfRuns(0, 7); got != "3.2 requests for each grant, 1,204 grants jumped the queue|2.0 requests for each grant|" {
		t.Errorf("got %q", got)
	}
}
