package reports

import (
	"strings"
	"testing"

	"lockcheck/checker/history"
	"lockcheck/reports/testkit"
	"lockcheck/reports/words"
)

func TestRejectedWritesAreListed(t *testing.T) {
	j := testkit.EtcdPauseRun()
	for i := range j.Model.Requests.Len() {
		if i%2 == 0 {
			q := j.Model.Requests.At(i)
			q.Outcome, q.Mark = history.Rejected, "9999"
			j.Model.Requests.Set(i, q)
		}
	}
	first, all := words.RejectedWrites(j.Plan, j.Model)
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

// Under compare-and-set what a rejected write was built on is told beside the value that was there.
func TestWritesRejectedByCompareAndSetAreListed(t *testing.T) {
	j := testkit.EtcdPauseRun()
	j.Plan.Resource, j.Plan.Fenced = history.ResourceCAS, false
	before, rejected := "", false // what was written before the one that is rejected
	for i := range j.Model.Requests.Len() {
		q := j.Model.Requests.At(i)
		switch {
		case q.Kind != history.KindWrite || q.Outcome != history.Applied || q.Key != "k1" || rejected:
		case before == "":
			before = q.Value
		default:
			q.Outcome, q.Base, rejected = history.Rejected, "h1.1", true
			j.Model.Requests.Set(i, q)
		}
	}
	first, all := words.RejectedWrites(j.Plan, j.Model)
	if all != 1 || first[0].Offered != "h1.1" || first[0].Had != before || first[0].Words() != ", built on h1.1, but the value was "+first[0].Had {
		t.Fatalf("%d, %+v", all, first)
	}
	page := shown(t, j)
	for _, want := range []string{"writes built on old values that the resource rejected", `<th scope="col">built on</th><th scope="col">the value was</th>`, ">h1.1</td>", "kept from the data by compare-and-set"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	printed := said(t, j)
	for _, want := range []string{"wrote k1, built on h1.1, but the value was " + first[0].Had, " lost over 3 outlived leases (guard before-work); "} {
		if !strings.Contains(printed, want) {
			t.Errorf("the terminal lacks %q:\n%s", want, printed)
		}
	}
}

// An excerpt leaves writes out: what the value was that a rejected write was compared with is not known from it.
func TestAnExcerptDoesNotSayWhatARejectedWriteFound(t *testing.T) {
	j := testkit.EtcdPauseRun()
	j.Plan.Resource, j.Plan.Fenced = history.ResourceCAS, false
	j.Plan.Excerpt = &history.Excerpt{Finding: "liveness-1", Property: "liveness"}
	for i := range j.Model.Requests.Len() {
		if q := j.Model.Requests.At(i); q.Kind == history.KindWrite {
			q.Outcome, q.Base = history.Rejected, "h1.1"
			j.Model.Requests.Set(i, q)
		}
	}
	first, _ := words.RejectedWrites(j.Plan, j.Model)
	if got := first[0]; got.Had != "another by then" || got.Words() != ", built on h1.1, but the value was another by then" {
		t.Errorf("it had %q: %q", got.Had, got.Words())
	}
}
