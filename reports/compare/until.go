package compare

import (
	"slices"
	"strings"

	"lockcheck/checker"
	"lockcheck/checker/history"
)

// FlagUntil is the flag of lockcheck run that ends the load once something was found.
const FlagUntil = "until"

// endsOnceFound fits --until to a cell. Its run may end early only where nothing but violations is expected, and only once
// each of them was found: one that is missing because the run ended would be a false alarm, and so would be a pass of what
// should have had the whole time to fail.
func endsOnceFound(flags []Flag, expect *Expectation) []Flag {
	at := slices.IndexFunc(flags, func(f Flag) bool { return f.Name == FlagUntil })
	if at < 0 || flags[at].Value == "" {
		return flags
	}
	if !expect.onlyViolations() || !expect.foundEarly() {
		return slices.Delete(flags, at, at+1)
	}
	var names []string
	for _, w := range expect.Expect {
		names = append(names, string(w.Property))
	}
	for _, name := range strings.Split(flags[at].Value, ",") {
		if name != history.UntilViolation && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	flags[at].Value = strings.Join(names, ",")
	return flags
}

// EndsOnceFound reports whether the load of the task's runs ends once what is expected of them was found.
func (t Task) EndsOnceFound() bool {
	return slices.ContainsFunc(t.Flags, func(f Flag) bool { return f.Name == FlagUntil && f.Value != "" })
}

// onlyViolations reports whether every verdict that is expected is a violation, and at least one is.
func (e *Expectation) onlyViolations() bool {
	return e != nil && len(e.Expect) > 0 && !slices.ContainsFunc(e.Expect, func(w Wanted) bool { return !w.only(checker.Violation) })
}

// foundEarly reports whether all that is expected can be known while a run still goes on.
func (e *Expectation) foundEarly() bool {
	return !slices.ContainsFunc(e.Expect, func(w Wanted) bool { return !slices.Contains(checker.FoundEarly(), w.Property) })
}
