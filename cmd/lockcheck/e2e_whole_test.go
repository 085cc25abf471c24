//go:build e2e

package main_test

import (
	"os"
	"slices"
	"strings"

	"lockcheck/checker"
)

// whole reports whether every combination is run, and each run lasts its whole time (scripts/soak). Otherwise each backend, provider,
// client and fault is met, but not each with each, and a run whose harm is certain to come ends once it was found: it costs a third, and a
// busy machine, on which faults take effect late, has the time that it needs.
func whole() bool { return os.Getenv("LOCKCHECK_WHOLE") == "1" }

// endingAt ends a load once all of these were found, however long that takes a busy machine. It is for runs that have to find them. Where
// the end of a run decides about one of them, or the whole is asked for, args are returned as they are.
func endingAt(names []checker.Name, args ...string) []string {
	var words []string
	for _, name := range names {
		if !slices.Contains(checker.FoundEarly(), name) {
			return args
		}
		words = append(words, string(name))
	}
	if whole() || len(words) == 0 {
		return args
	}
	return slices.Concat(args, []string{"--until=" + strings.Join(words, ","), atMost})
}
