package reports

import (
	"strings"
	"testing"

	"lockcheck/reports/testkit"
)

func TestQueueingIsShownWhereClientsReportIt(t *testing.T) {
	for name, c := range map[string]struct {
		attempts  float64
		overtakes int64
		queues    bool
		terminal  string
		page      []string
	}{
		"requests and queue": {3.24, 4, true, "queue     3.2 requests for each grant, 4 grants jumped the queue\n",
			[]string{"requests for each grant", "3.2", "wakes up all its waiters", "jumped the queue", "serves its waiters in turn has none"}},
		"one":                  {1, 1, true, "queue     1.0 requests for each grant, 1 grant jumped the queue\n", nil},
		"a lock that is fair":  {2, 0, true, "queue     2.0 requests for each grant, no grant jumped the queue\n", nil},
		"no word of the queue": {2, 0, false, "queue     2.0 requests for each grant\n", []string{"requests for each grant"}},
		"no word of requests":  {0, 4, true, "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			j := testkit.EtcdPauseRun()
			j.Result.Stats.AttemptsPerGrant, j.Result.Stats.Overtakes = c.attempts, c.overtakes
			if c.queues {
				j.Model.Holds[3].QueuedNS = 1
			}
			said := said(t, j)
			if !strings.Contains(said, c.terminal) || strings.Contains(said, "\nqueue ") != (c.terminal != "") {
				t.Errorf("the terminal does not say %q:\n%s", c.terminal, said)
			}
			doc := testkit.Parse(t, shown(t, j))
			phrase := testkit.Text(doc)
			for _, want := range c.page {
				if !strings.Contains(phrase, want) {
					t.Errorf("the page does not say %q", want)
				}
			}
			if strings.Contains(phrase, "jumped the queue") != (c.queues && c.attempts > 0) {
				t.Error("the page mentions grants that jumped the queue where no client reports that it queues, or does not where one does")
			}
		})
	}
}
