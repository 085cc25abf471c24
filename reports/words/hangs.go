package words

import (
	"fmt"
	"slices"
	"strings"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
)

// Hang warns, as a part of the verdict's sentence, of a lock that was not granted for a long time although nothing was in its way; "" if
// there was none, or it is what is violated. It is no verdict: the lock hangs, or it is slow.
func Hang(r *model.Result) string {
	s := r.Stats
	if q := r.Property(model.Liveness); q != nil && q.Verdict == model.Violation {
		return ""
	}
	switch {
	case s.FreeWanted.NotJudged == "" && s.FreeWanted.Longest.Long:
		free := s.FreeWanted.Longest
		return fmt.Sprintf("warning: %s was free for %s, from %s on, while %s waited for it: the lock hangs, or it is slow",
			Clip(free.Key, MaxName), history.Duration(free.NS), history.Moment(free.FromNS), Clip(free.Client, MaxName))
	case s.Starved.Long:
		return fmt.Sprintf("warning: %s waited for %s for %s, from %s on, although no client is known to have held it and no fault was in effect: the lock hangs, or it is slow",
			Clip(s.Starved.Client, MaxName), Clip(s.Starved.Key, MaxName), history.Duration(s.Starved.NS), history.Moment(s.Starved.FromNS))
	}
	return ""
}

// WithoutAnswer counts, as a part of the verdict's sentence, the operations that were left without an answer although no fault was near, by
// their kind and their clients: "2 acquires of c1 and c3 were never answered, no fault near"; "" if there were none.
func WithoutAnswer(all []model.Unanswered) string {
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
	return strings.Join(kinds, " and ") + " never answered, and no fault explains it"
}

// OddClients tells, as a part of the verdict's sentence, of clients that kept the run from testing much; "" if there were none.
func OddClients(all []model.OddClient) string {
	var words []string
	for _, o := range all[:min(len(all), maxClients)] {
		name := Clip(o.Client, MaxName)
		if o.WithoutCode > 0 {
			words = append(words, fmt.Sprintf("%s of %s failed without a code", history.Counted(o.WithoutCode, "operation", "operations"), name))
		}
		if o.Late > 0 {
			words = append(words, fmt.Sprintf("%s confirmed %s up to %s late, so little of them was judged", name, history.Counted(o.Late, "hold", "holds"), history.Duration(o.LateNS)))
		}
	}
	if more := len(all) - maxClients; more > 0 {
		words = append(words, history.Counted(int64(more), "more client", "more clients")+" like them")
	}
	return strings.Join(words, "; ")
}

// maxClients bounds a sentence.
const maxClients = 5

// FreeWanted says how long locks were free while they were wanted, and how long it took to take one over: "0.41 s in all (2.1 % of the
// load), 0.12 s at most; taken over after a fault or a death in 1.20 s (median), 2.31 s at most".
func FreeWanted(s model.Stats) string {
	free := s.FreeWanted
	words := "not known: " + free.NotJudged
	if free.NotJudged == "" {
		longest := history.Duration(free.Longest.NS) + " at most"
		if free.Longest.NS > free.TotalNS {
			longest += ", with the time after it" // the wait went on when the load was over, which is no part of the sum
		}
		words = fmt.Sprintf("%s in all (%s of the load), %s", history.Duration(free.TotalNS), Percent(free.Share), longest)
	}
	if s.TakeOver.Count > 0 {
		words += fmt.Sprintf("; taken over after a fault or a death in %s (median), %s at most", history.Duration(s.TakeOver.P50NS), history.Duration(s.TakeOver.MaxNS))
	}
	return words
}
