package reports

import (
	"strings"
	"testing"

	"lockcheck/checker/history"
	"lockcheck/reports/internal/madeup"
	"lockcheck/reports/words"
)

func TestRejectedWritesAreListed(t *testing.T) {
	j := madeup.EtcdPauseRun()
	for i := range j.Model.Requests.Len() {
		if i%2 == 0 {
			q := j.Model.Requests.At(i)
			q.Outcome, q.Mark = history.Rejected, "9999"
			j.Model.Requests.Set(i, q)
		}
	}
	first, all := words.RejectedWrites(j.Model)
	if want := int64(j.Model.Requests.Len()+1) / 2; all != want || len(first) != int(min(want, words.MaxRejected)) {
		t.Errorf("%d of %d rejected writes are counted, %d listed", all, want, len(first))
	}
	if got := strings.Count(shown(t, j), ">9999</td>"); got != len(first) {
		t.Errorf("%d of %d are on the page", got, len(first))
	}
	printed := said(t, j)
	if !strings.Contains(printed, "wrote k1 with token 34 after token 9999") || strings.Count(printed, "\nrejected ") != 5 {
		t.Errorf("the terminal says\n%s", printed)
	}
}
