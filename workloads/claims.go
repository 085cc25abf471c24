package workloads

import "lockcheck/checker/history"

// claims knows from the history which locks each client may have. It ends a claim where the checker does: a release that
// definitely came to its end, the end of the grant or of its session, its loss, the end of the client.
type claims struct {
	of map[string]map[string]*claim // by client, then by hold
}

type claim struct {
	key, session string
	unknown      bool // what came of the request, or of the release
}

func newClaims() claims { return claims{of: map[string]map[string]*claim{}} }

func (c *claims) take(event history.Event) {
	switch {
	case event.F == history.Acquire:
		if event.Type == history.OK || event.Type == history.Info {
			c.add(event)
		}
	case event.F == history.Release && event.Type != history.Invoke:
		c.released(event)
	case event.F == history.Exit && event.Type == history.Info:
		delete(c.of, event.Client)
	case event.F == history.Lost, event.F == history.Renew && event.Op == 0 && event.Type == history.Fail:
		for hold, claim := range c.of[event.Client] {
			if hold == event.Hold || event.Hold == "" && event.Session != "" && claim.session == event.Session {
				delete(c.of[event.Client], hold)
			}
		}
	}
}

func (c *claims) add(event history.Event) {
	mine := c.of[event.Client]
	if mine == nil {
		mine = map[string]*claim{}
		c.of[event.Client] = mine
	}
	mine[event.Hold] = &claim{event.Key, event.Session, event.Type == history.Info}
	if event.Type == history.Info {
		mine[event.Hold].session = "" // it may be under another
	}
}

func (c *claims) released(event history.Event) {
	claim := c.of[event.Client][event.Hold]
	switch {
	case claim == nil:
	case event.Type == history.OK, event.Type == history.Fail && (event.Owned != nil && !*event.Owned || event.Code == history.CodeNotOwned):
		delete(c.of[event.Client], event.Hold)
	default:
		claim.unknown = true
	}
}

// mayHold reports whether a client may have one of some locks and will not give it back: what came of its request or its
// release is not known, or it is done.
func (c *claims) mayHold(client string, keys map[string]bool, done bool) bool {
	for _, claim := range c.of[client] {
		if keys[claim.key] && (claim.unknown || done) {
			return true
		}
	}
	return false
}
