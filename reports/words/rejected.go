package words

import (
	"cmp"
	"fmt"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
)

// RejectedWrite is a write that the resource refused because it came too late: harm that was kept from the data. It is no
// finding, but it is what such a resource is for.
type RejectedWrite struct {
	history.Request
	Client string
	// Offered is what of it was compared with what the resource Had: its token with the highest that it had served, or the value
	// that it was built on with the current one.
	Offered, Had string
	words        string
}

// Words follow on "c5 wrote k1": " with token 32 after token 64", ", built on h18.36, but the value was h54.56".
func (r RejectedWrite) Words() string { return r.words }

// MaxRejected bounds how many rejected writes are listed.
const MaxRejected = 200

// RejectedWrites are the first writes that the resource rejected, at most MaxRejected, and how many there are in all.
func RejectedWrites(plan history.Plan, m *model.Model) (first []RejectedWrite, all int64) {
	values := map[string]string{} // by key
	current := func(key string) string {
		if plan.Excerpt != nil { // it leaves writes out
			return "another by then"
		}
		return valueWords(values[key])
	}
	for i := range m.Requests.Len() {
		r := m.Requests.At(i)
		if r.Kind == history.KindWrite && r.Outcome == history.Applied {
			values[r.Key] = r.Value
		}
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
		first = append(first, rejectedBy(plan.Compares(), r, client, current(r.Key)))
	}
	return first, all
}

func rejectedBy(compares history.Comparison, r history.Request, client, current string) RejectedWrite {
	w := RejectedWrite{Request: r, Client: client, Offered: cmp.Or(r.Token, "none"), Had: cmp.Or(r.Mark, "?")}
	if compares == history.CompareBases {
		w.Offered, w.Had = valueWords(r.Base), current
		w.words = fmt.Sprintf(", built on %s, but the value was %s", w.Offered, w.Had)
	} else {
		w.words = fmt.Sprintf(" with token %s after token %s", w.Offered, w.Had)
	}
	return w
}
