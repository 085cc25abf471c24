package words

import (
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
		about = "workload " + p.Workload + " shows it no tokens, so it accepts every write"
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
