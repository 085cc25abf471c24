package words

import (
	"lockcheck/checker/history"
	"lockcheck/checker/model"
)

// Guarding is what held writes back before they were sent.
func Guarding(s model.Stats) string {
	if s.Unanswered == 0 {
		return "the client's own look at its lock"
	}
	return "the client's guard" + Unanswered(s)
}

// Unanswered is how many of the writes that were held back say nothing of the lock: the service did not answer. It is "" for none.
func Unanswered(s model.Stats) string {
	if s.Unanswered == 0 {
		return ""
	}
	return " (" + history.Grouped(s.Unanswered) + " of them because the service did not answer)"
}
