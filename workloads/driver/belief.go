package driver

// beliefs keeps, for one client, how long it is known to have believed in each of its holds (rule R4). It only ever
// moves an end forward, and only to moments that the client itself confirmed, or through which it was seen to be
// stopped: what a client did not confirm is not counted, so a slow harness cannot invent an overlap.
type beliefs struct {
	holds        map[string]*belief
	lostSessions map[string]bool
	lostHolds    map[string]bool
}

type belief struct {
	key, session string
	startNS      int64
	untilNS      int64
	releaseNS    int64 // the release's invocation; 0 before it
}

func newBeliefs() beliefs {
	return beliefs{holds: map[string]*belief{}, lostSessions: map[string]bool{}, lostHolds: map[string]bool{}}
}

// grant opens a belief unless its loss was printed before the grant (rule R3: that voids it).
func (b *beliefs) grant(hold, key, session string, stampNS int64) {
	if b.lostHolds[hold] || (session != "" && b.lostSessions[session]) {
		return
	}
	b.holds[hold] = &belief{key: key, session: session, startNS: stampNS}
}

// confirm says that a message sent at sentNS was answered with this hold's flag set.
func (b *beliefs) confirm(hold string, sentNS int64) {
	held := b.holds[hold]
	if held == nil || sentNS <= held.startNS {
		return
	}
	if held.releaseNS != 0 {
		sentNS = min(sentNS, held.releaseNS)
	}
	held.untilNS = max(held.untilNS, sentNS)
}

// confirmAll is confirm for every hold: a process that was stopped all the time until stampNS changed no belief.
func (b *beliefs) confirmAll(stampNS int64) {
	for hold := range b.holds {
		b.confirm(hold, stampNS)
	}
}

// release caps a hold at the invocation of its release.
func (b *beliefs) release(hold string, stampNS int64) {
	if held := b.holds[hold]; held != nil && held.releaseNS == 0 {
		held.releaseNS = stampNS
	}
}

// end forgets a hold and returns what was confirmed of it, in ns; 0 for nothing.
func (b *beliefs) end(hold string) int64 {
	held := b.holds[hold]
	if held == nil {
		return 0
	}
	delete(b.holds, hold)
	return held.untilNS
}

// lose marks a session, or single holds, as lost and returns the holds that ended with it.
func (b *beliefs) lose(session string, holds []string) []string {
	for _, hold := range holds {
		b.lostHolds[hold] = true
	}
	if len(holds) > 0 {
		return holds
	}
	b.lostSessions[session] = true
	var ended []string
	for hold, held := range b.holds {
		if held.session == session {
			ended = append(ended, hold)
		}
	}
	return ended
}

// pending is the confirmed end of a hold so far, in ns.
func (b *beliefs) pending(hold string) int64 {
	if held := b.holds[hold]; held != nil {
		return held.untilNS
	}
	return 0
}
