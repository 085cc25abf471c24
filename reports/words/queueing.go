package words

import (
	"slices"
	"strconv"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
)

// What clients see of the queue of a lock. Both figures are statistics, never a verdict.

// Queueing says how the queue of a lock did: "3.2 requests for each grant, 4 grants jumped the queue"; "" where no
// client reports how many requests it sends. Overtakes are shown only where a client reports that it queues, too.
func Queueing(s model.Stats, queued bool) string {
	if s.AttemptsPerGrant == 0 {
		return ""
	}
	words := attemptWords(s.AttemptsPerGrant)
	if queued {
		words += ", " + jumped(s.Overtakes)
	}
	return words
}

func jumped(overtakes int64) string {
	if overtakes == 0 {
		return "no grant jumped the queue"
	}
	return history.Counted(overtakes, "grant", "grants") + " jumped the queue"
}

// QueueingOfRuns is the same of several runs. That no grant jumped the queue is not said: their clients may not report that they queue.
func QueueingOfRuns(attemptsPerGrant float64, overtakes int64) string {
	return Queueing(model.Stats{AttemptsPerGrant: attemptsPerGrant, Overtakes: overtakes}, overtakes > 0)
}

func attemptWords(perGrant float64) string {
	return AttemptsPerGrant(perGrant) + " requests for each grant"
}

// AttemptsPerGrant writes a number of requests for each grant: "3.2".
func AttemptsPerGrant(perGrant float64) string { return strconv.FormatFloat(perGrant, 'f', 1, 64) }

// Queued reports whether any client of a run told that a request of its had queued.
func Queued(m *model.Model) bool {
	return slices.ContainsFunc(m.Holds, func(h *model.Hold) bool { return h.QueuedNS != 0 })
}
