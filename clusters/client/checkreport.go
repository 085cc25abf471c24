package client

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"lockcheck/checker/history"
)

// maxMS is the longest time that a report may name: with the moment that it counts from it still fits into a recording.
const maxMS = history.MaxNS / 2 / 1_000_000

// codes are those of definite failures, as the protocol's page lists them.
var codes = []string{
	history.CodeRefused, history.CodeBusy, history.CodeCancelled, history.CodeNotOwned, history.CodeRejected, history.CodeGuard, history.CodeUnanswered,
}

// Check refuses a report that no recording could hold, or that says what the protocol has no meaning for. The client is
// told what is wrong with its own words, and what it said is not taken for an answer of the service.
func (r *Report) Check() error {
	switch {
	case r.TTLMS < 0 || r.TTLMS > maxMS:
		return fmt.Errorf("ttl_ms is %d, want 0 to %d", r.TTLMS, maxMS)
	case r.ValidMS < 0 || r.ValidMS > maxMS:
		return fmt.Errorf("valid_ms is %d, want 0 to %d", r.ValidMS, maxMS)
	case r.Attempts < 0:
		return fmt.Errorf("attempts is %d, want 0 or more", r.Attempts)
	case slices.Contains(r.Holds, ""):
		return errors.New("one of its holds has no name")
	case (r.Msg == MsgLease || r.Msg == MsgEnded) && r.Session == "" && len(r.Holds) == 0:
		return errors.New("it names neither a session nor holds")
	case r.Msg == MsgStage && r.Stage == StageRemoved && r.Session == "":
		return fmt.Errorf("stage %q names the session whose record was removed", StageRemoved)
	case r.GaveBack && (r.Msg != MsgFail || r.Code != history.CodeRefused):
		return fmt.Errorf("gave_back goes with %s and code %q", MsgFail, history.CodeRefused)
	case r.Code != "" && !slices.Contains(codes, r.Code):
		return fmt.Errorf("there is no code %q; there are: %s", r.Code, strings.Join(codes, ", "))
	}
	for _, name := range append([]string{r.Session, r.Value}, r.Holds...) {
		if strings.ContainsRune(name, utf8.RuneError) { // what could not be read, too
			return fmt.Errorf("%.*q is not valid UTF-8", maxQuoted, name)
		}
	}
	return history.CheckToken(r.Token)
}

// CheckGranted refuses the token of a grant if the number could be written otherwise: a resource that compares texts would take
// 033 for another token than 33. A token in any other report is not held to that: nothing is made of it.
func CheckGranted(token string) error {
	if len(token) > 1 && token[0] == '0' {
		return fmt.Errorf("token %.*q has leading zeros: it has to be written as %.*q", maxQuoted, token, maxQuoted, cmp.Or(strings.TrimLeft(token, "0"), "0"))
	}
	return nil
}
