package harness

import (
	"fmt"
	"slices"
	"strings"

	"lockcheck/checker"
	"lockcheck/checker/history"
)

// UntilWords takes a value of --until apart; none for "".
func UntilWords(value string) []string {
	if value == "" {
		return nil
	}
	return strings.Split(value, ",")
}

// FoundEarly are the names of the properties that --until can name.
func FoundEarly() (names []string) {
	for _, name := range checker.FoundEarly() {
		names = append(names, string(name))
	}
	return names
}

// untilFound is the rule of --until: what can never be found while a run goes on would never end it.
var untilFound = Rule{Check: checkUntil, Schema: map[string]any{"type": "string", "pattern": untilPattern()}}

func untilPattern() string {
	property := "(" + strings.Join(FoundEarly(), "|") + ")"
	return "^(" + history.UntilViolation + "|" + history.UntilExposed + "|" + property + "(," + property + ")*)$"
}

func checkUntil(name, value string) error {
	words := UntilWords(value)
	for i, word := range words {
		switch {
		case word == history.UntilViolation && len(words) > 1:
			return fmt.Errorf("%s=%s: %q stands for any property; use it alone, or name properties", name, value, word)
		case word == history.UntilExposed && len(words) > 1:
			return fmt.Errorf("%s=%s: %q stands for all that the run requires, violated or not; use it alone, or name properties", name, value, word)
		case slices.Contains(words[:i], word):
			return fmt.Errorf("%s=%s names %q twice", name, value, word)
		case word == history.UntilViolation || word == history.UntilExposed || slices.Contains(FoundEarly(), word):
		case slices.Contains(checker.Names(), checker.Name(word)):
			return fmt.Errorf("%s=%s: %s is known only at the end of a run; it can end early for: %s", name, value, word, strings.Join(FoundEarly(), ", "))
		default:
			return fmt.Errorf("%s: there is no property %q%s; a run can end early for: %s, %s, %s", name, word, history.Meant("", word, FoundEarly()), history.UntilViolation, history.UntilExposed, strings.Join(FoundEarly(), ", "))
		}
	}
	return nil
}
