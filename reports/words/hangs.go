package words

import (
	"fmt"
	"slices"
	"strings"

	"lockcheck/checker"
	"lockcheck/checker/history"
)

// Hang warns, as a part of the verdict's sentence, of a lock that was not granted for a long time although nothing was in its way; "" if
// there was none, or it is what is violated. It is no verdict: the lock hangs, or it is slow.
func Hang(p history.Plan, r *checker.Result) string {
	s := r.Stats
	if q := r.Property(checker.Liveness); q != nil && q.Verdict == checker.Violation {
		return ""
	}
	switch {
	case s.FreeWanted.NotJudged == "" && s.FreeWanted.Longest.Long(p):
		free := s.FreeWanted.Longest
		return fmt.Sprintf("warning: %s was free for %s, from %s on, while %s waited for it: the lock hangs, or it is slow",
			Clip(free.Key, MaxName), history.Duration(free.NS), history.Moment(free.FromNS), Clip(free.Client, MaxName))
	case s.Starved.Long(p):
		return fmt.Sprintf("warning: %s waited for %s for %s, from %s on, although no client is known to have held it and no fault was in effect: the lock hangs, or it is slow",
			Clip(s.Starved.Client, MaxName), Clip(s.Starved.Key, MaxName), history.Duration(s.Starved.NS), history.Moment(s.Starved.FromNS))
	}
	return ""
}

// WithoutAnswer counts, as a part of the verdict's sentence, the operations that were left without an answer although no fault was near, by
// their kind and their clients: "2 acquires of c1 and c3 were never answered, no fault near"; "" if there were none.
func WithoutAnswer(all []checker.Unanswered) string {
	var kinds []string
	for i := 0; i < len(all); {
		f, n, clients := all[i].F, int64(0), []string{}
		for ; i < len(all) && all[i].F == f; i++ {
			n += all[i].Count
			clients = append(clients, Clip(all[i].Client, MaxName))
		}
		slices.Sort(clients)
		if more := len(clients) - maxClients; more > 0 {
			clients = append(clients[:maxClients], fmt.Sprintf("%d more", more))
		}
		kinds = append(kinds, fmt.Sprintf("%s of %s", history.Counted(n, string(f), string(f)+"s"), strings.Join(clients, ", ")))
	}
	if len(kinds) == 0 {
		return ""
	}
	return strings.Join(kinds, " and ") + " never answered, with no fault near"
}

// maxClients bounds a sentence.
const maxClients = 5

// FreeWanted says how long locks were free while they were wanted, and how long it took to take one over: "0.41 s in all (2.1 % of the
// load), 0.12 s at most; taken over after a fault or a death in 1.20 s (median), 2.31 s at most".
func FreeWanted(s checker.Stats) string {
	free := s.FreeWanted
	words := "not known: " + free.NotJudged
	if free.NotJudged == "" {
		words = fmt.Sprintf("%s in all (%s of the load), %s at most", history.Duration(free.TotalNS), Percent(free.Share), history.Duration(free.Longest.NS))
	}
	if s.TakeOver.Count > 0 {
		words += fmt.Sprintf("; taken over after a fault or a death in %s (median), %s at most", history.Duration(s.TakeOver.P50NS), history.Duration(s.TakeOver.MaxNS))
	}
	return words
}
