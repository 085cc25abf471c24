package words

import (
	"fmt"

	"lockcheck/checker"
	"lockcheck/checker/history"
)

// Resource says what holders write to: "fenced: rejects a request whose token is lower than the highest it has served on the key".
func Resource(p history.Plan) string { return string(p.ResourceKind().Name) + ": " + ResourceNote(p) }

// ResourceNote says what the resource of a run does.
func ResourceNote(p history.Plan) string {
	kind := p.ResourceKind()
	about := kind.About
	if kind.Compares == history.CompareTokens && !p.Fenced {
		about = "workload " + p.Workload + " shows it no tokens, so it takes every write"
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
func Harm(p history.Plan, r *checker.Result) string {
	if !p.Compares().OrdersWrites() {
		return history.Counted(r.Stats.StaleAccepted, "stale write", "stale writes") + " accepted"
	}
	lost := checker.Property{Name: checker.LostUpdate}
	if judged := r.Property(checker.LostUpdate); judged != nil {
		lost = *judged
	}
	return Counted(&lost)
}

// HarmRate is how much of it there was for each lease that a holder outlived; "" where that says nothing.
func HarmRate(p history.Plan, s checker.Stats) string {
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
