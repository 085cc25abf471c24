package reports

import (
	"fmt"
	"io"

	"lockcheck/checker"
	"lockcheck/checker/history"
)

// rejectedWrite is a write that the fenced storage refused because its token had been superseded: harm that fencing kept
// from the data. It is no finding, but it is what a fencing run is made to show.
type rejectedWrite struct {
	history.Request
	Client string
}

// maxRejected bounds the list on the page; a terminal shows the first few.
const (
	maxRejected      = 200
	maxRejectedLines = 5
)

// rejectedWrites are the first of them, and how many there are.
func rejectedWrites(m *checker.Model) (first []rejectedWrite, all int64) {
	for i := range m.Requests.Len() {
		r := m.Requests.At(i)
		if r.Outcome != history.Rejected || r.Kind != history.KindWrite {
			continue
		}
		if all++; all > maxRejected {
			continue
		}
		client := "?"
		if h := m.Requester(i); h != nil {
			client = h.Client
		}
		first = append(first, rejectedWrite{r, client})
	}
	return first, all
}

func writeRejected(w io.Writer, j Judgement) {
	first, all := rejectedWrites(j.Model)
	for i, r := range first {
		if i == maxRejectedLines {
			fmt.Fprintf(w, "         ... and %s more, in the report\n", grouped(all-int64(i)))
			return
		}
		fmt.Fprintf(w, "rejected %s  %s wrote %s with token %s after token %s\n", clock(r.TimeNS), plain(r.Client), plain(clip(r.Key, 40)),
			plain(firstOf(r.Token, "none")), plain(firstOf(r.Mark, "?")))
	}
}

// refused are the rejected writes as the page lists them.
type refused struct {
	Listed []rejectedWrite
	All    int64
}

func newRefused(m *checker.Model) refused {
	first, all := rejectedWrites(m)
	return refused{first, all}
}
