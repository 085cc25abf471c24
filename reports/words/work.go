package words

import (
	"strings"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
)

// Work says how long holders work, and what clients do beside.
func Work(p history.Plan) string {
	return strings.TrimSuffix(p.Works().String()+": "+Beside(p), ": ")
}

// Beside says what clients do beside holds of the usual length; "" for nothing.
func Beside(p history.Plan) string {
	var phrases []string
	w := p.Works()
	if w.Long {
		phrases = append(phrases, "some holds last 1.2 to 2.5 leases, of clients that renew them")
	}
	if w.Tries {
		phrases = append(phrases, "some acquires do not wait")
	}
	if w.GivenUp {
		phrases = append(phrases, "some acquires are given up while they wait")
	}
	return strings.Join(phrases, "; ")
}

// Jobs says what became of a schedule: "58 slots due, 57 recorded, 3 more than once; 2 records answered as the first of their slot".
func Jobs(p history.Plan, s *model.JobStats) string {
	parts := []string{
		history.Counted(s.Due, "slot", "slots") + " due, " + history.Grouped(s.Recorded) + " recorded, " + history.Grouped(s.Doubled) + " more than once",
	}
	execution, _ := history.ExecutionNamed(p.Execution)
	if execution.Keyed || s.Deduplicated > 0 {
		parts = append(parts, history.Counted(s.Deduplicated, "record", "records")+" answered as the first of their slot")
	}
	if s.Rejected > 0 {
		parts = append(parts, history.Counted(s.Rejected, "record", "records")+" rejected")
	}
	if execution.MarksFirst {
		parts = append(parts, history.Grouped(s.MarkedOnly)+" recorded by a client that died before the work was over")
	}
	return strings.Join(parts, "; ")
}
