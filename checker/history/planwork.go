package history

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Work is how long holders work, and what clients are asked to do beside. A plan without it (recorded before there was a choice, or where
// nothing else was asked) has 20 to 120 ms, and nothing beside.
type Work struct {
	FromMS int64 `json:"from_ms"`
	ToMS   int64 `json:"to_ms"`
	// Long says that some holds last for longer than a lease, so that it has to be renewed.
	Long bool `json:"long,omitempty"`
	// IfRenewed requires that of a run only where clients were seen to renew leases.
	IfRenewed bool `json:"if_renewed,omitempty"`
	// Tries says that some acquires do not wait, GivenUp that some are given up while they wait.
	Tries   bool `json:"tries,omitempty"`
	GivenUp bool `json:"given_up,omitempty"`
}

// What may stand behind the span of times of Work.
const (
	LongWork    = "long"            // a hold past its first lease is required
	LongWorkIf  = "long-if-renewed" // and only of clients that renew
	TriesWork   = "tries"
	GivenUpWork = "given-up"
)

// WorkWords are all of them.
var WorkWords = []string{LongWork, LongWorkIf, TriesWork, GivenUpWork}

// LongLeast and LongMost are how long a hold past its lease is asked to last, in tenths of the lease.
const (
	LongLeast = 12
	LongMost  = 25
)

// DefaultWork is how long holders work where nothing else is said.
var DefaultWork = Work{FromMS: 20, ToMS: 120}

// maxWork bounds what a slip of the finger can ask for.
const maxWork = 10 * time.Minute

// Words are those behind its span of times.
func (w Work) Words() (words []string) {
	switch {
	case w.IfRenewed:
		words = append(words, LongWorkIf)
	case w.Long:
		words = append(words, LongWork)
	}
	if w.Tries {
		words = append(words, TriesWork)
	}
	if w.GivenUp {
		words = append(words, GivenUpWork)
	}
	return words
}

// String is the work as ParseWork reads it.
func (w Work) String() string {
	span := fmt.Sprintf("%v..%v", time.Duration(w.FromMS)*time.Millisecond, time.Duration(w.ToMS)*time.Millisecond)
	return strings.Join(append([]string{span}, w.Words()...), ",")
}

// ParseWork reads "20ms..120ms", which words of WorkWords may follow: "20ms..120ms,long,tries".
func ParseWork(text string) (w Work, err error) {
	parts := strings.Split(text, ",")
	from, to, isRange := strings.Cut(parts[0], "..")
	shortest, err1 := time.ParseDuration(from)
	longest, err2 := time.ParseDuration(to)
	words := parts[1:]
	unknown := slices.ContainsFunc(words, func(word string) bool { return !slices.Contains(WorkWords, word) })
	switch {
	case !isRange || err1 != nil || err2 != nil || unknown:
		return w, fmt.Errorf("%q is no span of times such as %v, with or without %s behind it: %v,%s", text, DefaultWork, list(WorkWords), DefaultWork, LongWork)
	case shortest < time.Millisecond || longest < shortest || longest > maxWork:
		return w, fmt.Errorf("%q: use 1ms to %v, the shorter time first", text, maxWork)
	case slices.Contains(words, LongWork) && slices.Contains(words, LongWorkIf):
		return w, fmt.Errorf("%q: %s and %s exclude each other: leave out one", text, LongWork, LongWorkIf)
	}
	w = Work{FromMS: shortest.Milliseconds(), ToMS: longest.Milliseconds()}
	w.IfRenewed = slices.Contains(words, LongWorkIf)
	w.Long = w.IfRenewed || slices.Contains(words, LongWork)
	w.Tries, w.GivenUp = slices.Contains(words, TriesWork), slices.Contains(words, GivenUpWork)
	return w, nil
}

// LeasesHold reports whether a nemesis has no faults but kills: a holder that lives and renews its lease keeps it.
func LeasesHold(nemesis string) bool {
	return !slices.ContainsFunc(kindsIn(nemesis), func(kind string) bool { return kind != string(KillFault) })
}

// Works is how long holders of the run work.
func (p *Plan) Works() Work {
	if p.Work == nil {
		return DefaultWork
	}
	return *p.Work
}

func (w *Work) validate() error {
	switch {
	case w == nil:
		return nil
	case w.IfRenewed && !w.Long:
		return mistakef("the plan's work has if_renewed, but not long")
	}
	if _, err := ParseWork(w.String()); err != nil {
		return mistakef("the plan's work: %v", err)
	}
	return nil
}
