package words

import (
	"fmt"

	"lockcheck/checker"
	"lockcheck/checker/history"
)

// Starved warns of a client that got nothing for a long time although nothing was in its way; "" if there was none. It is no
// verdict: the lock hangs, or it is slow.
func Starved(p history.Plan, s checker.Starvation) string {
	if !s.Long(p) {
		return ""
	}
	return fmt.Sprintf("%s waited for %s for %s, from %s on, although no client is known to have held it and no fault was in effect: the lock hangs, or it is slow",
		Clip(s.Client, 40), Clip(s.Key, 40), history.Duration(s.NS), history.Moment(s.FromNS))
}
