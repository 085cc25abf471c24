package reports

import (
	"strings"
	"testing"

	"lockcheck/checker"
	"lockcheck/reports/internal/madeup"
	"lockcheck/reports/words"
)

// A client that starved is reported on the terminal and on the page, from three leases on; and it changes no verdict.
func TestAStarvedClientIsWarnedOf(t *testing.T) {
	const phrase = "c3 waited for k1 for 12.3 s, from 17.020 s on, although no client is known to have held it and no fault was in effect: the lock hangs, or it is slow"
	for ns, warns := range map[int64]bool{12.3e9: true, 6e9: false, 0: false} {
		j := madeup.EtcdPauseRun()
		j.Plan.EffectiveMS = 2000
		j.Result.Stats.Starved = checker.Starvation{NS: ns, FromNS: 17.02e9, Key: "k1", Client: "c3"}
		verdict := words.Sentence(j.Plan, j.Result)
		if got := strings.Contains(said(t, j), "warning   "+phrase+"\n"); got != warns {
			t.Errorf("%d ns: on the terminal: %v", ns, got)
		}
		if got := strings.Contains(shown(t, j), "<b>Warning:</b> "+phrase+". This is a figure and no verdict."); got != warns {
			t.Errorf("%d ns: on the page: %v", ns, got)
		}
		j.Result.Stats.Starved = checker.Starvation{}
		if got := words.Sentence(j.Plan, j.Result); got != verdict {
			t.Errorf("%d ns: the verdict is %q, and without it %q", ns, verdict, got)
		}
	}
}
