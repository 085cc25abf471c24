package client

import (
	"fmt"
	"slices"
	"strings"

	"lockcheck/checker/history"
)

// Check refuses a declaration that cannot be checked. It does not look at the version: what the words of another
// one mean is not known here.
func (r *Ready) Check() error {
	if err := checkTokens(r.Tokens); err != nil {
		return err
	}
	if err := checkRelease(r.Release); err != nil {
		return err
	}
	if err := checkRetry(r.RetryMS); err != nil {
		return err
	}
	return checkCommands(r.Commands)
}

// maxQuoted bounds how much of a client's own words an error repeats, in bytes.
const maxQuoted = 200

func checkTokens(tokens string) error {
	switch history.Tokens(tokens) {
	case history.TokensOrdered, history.TokensNone:
		return nil
	case "":
		return fmt.Errorf("its ready report does not say whether its grants carry tokens; \"tokens\" has to be %q or %q", history.TokensOrdered, history.TokensNone)
	}
	return fmt.Errorf("its ready report declares tokens %.*q; \"tokens\" has to be %q or %q", maxQuoted, tokens, history.TokensOrdered, history.TokensNone)
}

// checkRelease refuses a word that says neither. A client that says nothing is believed to know nothing: rule J5 then
// asks for more proof.
func checkRelease(release string) error {
	switch history.ReleaseKind(release) {
	case history.ReleaseChecked, history.ReleaseUnchecked, "":
		return nil
	}
	return fmt.Errorf("its ready report declares release %.*q; \"release\" has to be %q or %q, or left out", maxQuoted, release,
		history.ReleaseChecked, history.ReleaseUnchecked)
}

// longestRetryMS is an hour: no run waits longer for a lock that hangs.
const longestRetryMS = 3_600_000

func checkRetry(ms int64) error {
	if ms >= 0 && ms <= longestRetryMS {
		return nil
	}
	return fmt.Errorf("its ready report declares retry_ms %d; \"retry_ms\" has to be the longest wait between two requests of an acquire, from 0 to %d milliseconds", ms, longestRetryMS)
}

// checkCommands refuses a client that does not understand what it will be asked for.
func checkCommands(commands []string) error {
	var missing []string
	for _, need := range required {
		if !slices.Contains(commands, string(need)) {
			missing = append(missing, string(need))
		}
	}
	if missing == nil {
		return nil
	}
	return fmt.Errorf("its ready report does not name %s among its \"commands\", which have to be there", strings.Join(missing, ", "))
}
