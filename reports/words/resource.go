package words

import (
	"cmp"
	"fmt"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
)

// Resource says what holders write to: "fenced: rejects a request whose token is lower than the highest it has served on the key".
func Resource(p history.Plan) string { return string(p.ResourceKind().Name) + ": " + ResourceNote(p) }

// ResourceNote says what the resource of a run does.
func ResourceNote(p history.Plan) string {
	kind := p.ResourceKind()
	about := kind.About
	if kind.Compares == history.CompareTokens && !p.Fenced {
		about = "workload " + p.Workload + " sends it no tokens, so it accepts every write"
	}
	switch {
	case p.Keyed() && p.UnderTest != nil && p.UnderTest.Compares == "":
		about += "; it has to take idempotency keys"
	case p.Keyed():
		about += "; answers a second record of a slot as the first, and does nothing"
	}
	return about
}

// Harm is what reached the data although another client was granted the lock: stale writes, or, where compare-and-set or idempotency
// keys decide which writes count, the updates that were lost.
func Harm(p history.Plan, r *model.Result) string {
	if !p.Compares().OrdersWrites() {
		return history.Counted(r.Stats.StaleAccepted, "stale write", "stale writes") + " accepted"
	}
	lost := model.Property{Name: model.LostUpdate}
	if judged := r.Property(model.LostUpdate); judged != nil {
		lost = *judged
	}
	return Counted(&lost)
}

// HarmOver is the harm and the outlived leases that it came of: "20 stale writes accepted, 2 of them over 2 outlived leases".
func HarmOver(p history.Plan, r *model.Result) string {
	s, of := r.Stats, " over "
	if !p.Compares().OrdersWrites() && s.StaleOutlived < s.StaleAccepted {
		of = fmt.Sprintf(", %s of them over ", history.Grouped(s.StaleOutlived))
	}
	return Harm(p, r) + of + history.Counted(s.OutlivedLeases, "outlived lease", "outlived leases")
}

// HarmRate is how much of it there was for each lease that a holder outlived; "" where that says nothing.
func HarmRate(p history.Plan, s model.Stats) string {
	if p.Compares().OrdersWrites() {
		return ""
	}
	return fmt.Sprintf("%.2f", s.StalePerOutlived)
}

// Rejected is how many writes the resource rejected: "2 stale writes".
func Rejected(p history.Plan, n int64) string {
	kind := p.ResourceKind()
	return history.Counted(n, kind.RejectedOne, kind.RejectedMany)
}

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
