package words

import (
	"lockcheck/checker"
	"lockcheck/checker/history"
)

// RejectedWrite is a write that the fenced resource refused because its token had been superseded: harm that fencing kept
// from the data. It is no finding, but it is what a fencing run is made to show.
type RejectedWrite struct {
	history.Request
	Client string
}

// MaxRejected bounds how many rejected writes are listed.
const MaxRejected = 200

// RejectedWrites are the first writes that the resource rejected, at most MaxRejected, and how many there are in all.
func RejectedWrites(m *checker.Model) (first []RejectedWrite, all int64) {
	for i := range m.Requests.Len() {
		r := m.Requests.At(i)
		if r.Outcome != history.Rejected || r.Kind != history.KindWrite {
			continue
		}
		if all++; all > MaxRejected {
			continue
		}
		client := "?"
		if h := m.Requester(i); h != nil {
			client = h.Client
		}
		first = append(first, RejectedWrite{r, client})
	}
	return first, all
}
