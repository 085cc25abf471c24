package words

import (
	"testing"

	"lockcheck/checker/history"
)

func TestWordsOfWork(t *testing.T) {
	for want, work := range map[string]*history.Work{
		"20ms..120ms": nil,
		"20ms..120ms,long-if-renewed,tries: some holds last 1.2 to 2.5 leases, of clients that renew them; some acquires do not wait": {FromMS: 20, ToMS: 120, Long: true, IfRenewed: true, Tries: true},
		"1ms..5ms,given-up: some acquires are given up while they wait":                                                               {FromMS: 1, ToMS: 5, GivenUp: true},
	} {
		if got := Work(history.Plan{Work: work}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
