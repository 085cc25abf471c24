package client

import (
	"errors"
	"fmt"
	"slices"

	"lockcheck/checker/history"
)

// maxMS is the longest time that a report may name: with the moment that it counts from it still fits into a recording.
const maxMS = history.MaxNS / 2 / 1_000_000

// check refuses a report that no recording could hold. The client is told what is wrong with its own words, and not the
// user that a history could not be written.
func (r *Report) check() error {
	switch {
	case r.TTLMS < 0 || r.TTLMS > maxMS:
		return fmt.Errorf("ttl_ms is %d, want 0 to %d", r.TTLMS, maxMS)
	case r.ValidMS < 0 || r.ValidMS > maxMS:
		return fmt.Errorf("valid_ms is %d, want 0 to %d", r.ValidMS, maxMS)
	case slices.Contains(r.Holds, ""):
		return errors.New("one of its holds has no name")
	case (r.Msg == MsgLease || r.Msg == MsgEnded) && r.Session == "" && len(r.Holds) == 0:
		return errors.New("it names neither a session nor holds")
	}
	return history.CheckToken(r.Token)
}
