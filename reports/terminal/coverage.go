package terminal

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"

	"lockcheck/checker/coverage"
	"lockcheck/checker/history"
	"lockcheck/checker/model"
	"lockcheck/reports/words"
)

// Coverage lists how close a run came to violations, and what it did to its locks, the most frequent first.
func Coverage(w io.Writer, m *model.Model) {
	margins(w, coverage.Margins(m))
	c := coverage.Of(m)
	states := map[coverage.State]bool{}
	transitions := map[string]int{}
	for t, n := range c.Transitions {
		states[t.From], states[t.To] = true, true
		transitions[t.String()] = n
	}
	fmt.Fprintf(w, "\ncoverage  %s between %s of a lock; %s of a fault and what happened to a lock\n",
		history.Counted(int64(len(transitions)), "transition", "transitions"), history.Counted(int64(len(states)), "state", "states"),
		history.Counted(int64(len(c.Orders)), "order", "orders"))
	for _, counts := range []map[string]int{transitions, c.Orders} {
		for _, what := range slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
			return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
		}) {
			fmt.Fprintf(w, "%6d  %s\n", counts[what], words.Plain(what))
		}
	}
}

// margins are the closest calls of take-overs, violations included.
func margins(w io.Writer, all []coverage.Margin) {
	if len(all) == 0 {
		fmt.Fprintln(w, "\nmargins   none: no client took a lock over before it was released")
		return
	}
	fmt.Fprintln(w, "\nmargins   of the closest take-over; 0 and below are in the order that the property forbids")
	for _, m := range all {
		by := history.Duration(m.By)
		if m.Property == model.TokenMonotonicity {
			by = history.Counted(m.By, "token", "tokens")
		}
		fmt.Fprintf(w, "%10s  %s: %s after %s on %s, at %s\n", by, m.Property, words.Clip(words.Plain(m.Newer.Client), words.MaxName), words.Clip(words.Plain(m.Older.Client), words.MaxName),
			words.Clip(words.Plain(m.Key), words.MaxName), history.Moment(m.AtNS))
	}
}
