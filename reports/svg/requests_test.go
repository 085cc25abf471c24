package svg

import (
	"strings"
	"testing"

	"lockcheck/checker/history"
)

// A drawing says of a request what the resource compared: under compare-and-set no token, though the workload may have sent one.
func TestARequestIsDrawnWithWhatWasCompared(t *testing.T) {
	tokened := history.Request{Seq: 61, Kind: history.KindWrite, Value: "v2", Base: "v1", Token: "13", Mark: "31", Outcome: history.Rejected}
	bare := tokened
	bare.Token, bare.Mark = "", ""
	for _, test := range []struct {
		q           history.Request
		by          history.Comparison
		note, title string
	}{
		{tokened, history.CompareTokens, "rejected 13", "rejected (highest token seen: 31)"},
		{tokened, history.CompareBases, "rejected", "rejected (built on v1)"},
		{bare, history.CompareBases, "rejected", "rejected (built on v1)"},
		{bare, history.CompareNothing, "rejected no token", ""},
	} {
		if note := requestNote(test.q, test.by); note != test.note {
			t.Errorf("%v: the note is %q, want %q", test.by, note, test.note)
		}
		if title := requestTitle(test.q, test.by); !strings.HasSuffix(title, test.title) {
			t.Errorf("%v: the title is %q, want %q", test.by, title, test.title)
		}
	}
}
