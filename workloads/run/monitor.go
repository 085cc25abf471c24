package run

import (
	"maps"
	"slices"
	"sync"

	"lockcheck/checker/history"
)

// monitor counts what the history says, for people who watch the run. It judges nothing.
type monitor struct {
	mu      sync.Mutex
	ops     int64
	holders map[string]string // hold -> client
	faults  map[int64]string
	phase   string
	stalled int64
	last    int64           // stamp of the last event
	ttl     map[int64]int64 // granted time to live in ns -> how many lease reports said so
	bounds  *history.Bounds
	waiters waiters
	claims  claims
}

func newMonitor(plan history.Plan) *monitor {
	return &monitor{
		holders: map[string]string{}, faults: map[int64]string{}, ttl: map[int64]int64{},
		bounds: history.NewBounds(plan), waiters: newWaiters(), claims: newClaims(),
	}
}

func (m *monitor) watch(event history.Event) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.last = event.TimeNS
	m.bounds.Take(&event)
	m.waiters.take(event)
	m.claims.take(event)
	switch {
	case event.F == history.Phase:
		m.phase = event.Value
	case event.F == history.Stall:
		m.stalled += event.TimeNS - event.FromNS
	case event.Process == history.NemesisProcess:
		m.watchFault(event)
	case event.Client != "":
		m.watchClient(event)
	}
}

func (m *monitor) watchFault(event history.Event) {
	switch {
	case event.Type == history.OK && !event.Heal && !event.AtOnce:
		m.faults[event.Op] = string(event.F) + " of " + event.Target
	case event.Heal && event.Type != history.Invoke:
		delete(m.faults, event.Op)
	}
}

func (m *monitor) watchClient(event history.Event) {
	if event.Op != 0 && event.Type != history.Invoke {
		m.ops++
	}
	switch {
	case event.F == history.Acquire && event.Type == history.OK:
		m.holders[event.Hold] = event.Client
	case event.F == history.Release && event.Type == history.Invoke:
		delete(m.holders, event.Hold)
	case event.F == history.Lost, event.F == history.Exit: // a client has one session, and holds nothing without it
		maps.DeleteFunc(m.holders, func(_, client string) bool { return client == event.Client })
	case event.F == history.Renew && event.TTLNS > 0:
		m.ttl[event.TTLNS]++
	}
}

func (m *monitor) phaseNow() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.phase
}

func (m *monitor) stalledNS() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.stalled
}

// Progress is how far a run has come.
type Progress struct {
	TimeNS  int64
	Phase   string
	Ops     int64
	Holders []string
	Faults  []string
}

func (m *monitor) progress() Progress {
	m.mu.Lock()
	defer m.mu.Unlock()
	return Progress{
		TimeNS: m.last, Phase: m.phase, Ops: m.ops,
		Holders: slices.Compact(slices.Sorted(maps.Values(m.holders))), Faults: slices.Sorted(maps.Values(m.faults)),
	}
}

// bound is how long a wait for a lock may be (rule J8). Once the run is over, its plan has the shortest lease that was seen.
func (m *monitor) bound(fromNS, toNS int64, client func(string) bool) history.Bound {
	m.mu.Lock()
	defer m.mu.Unlock()
	b := m.bounds.Between(fromNS, toNS, client)
	b.TTLNS = max(b.TTLNS, m.minTTLLocked())
	return b
}

// retries takes what the lock client declared of its requests.
func (m *monitor) retries(ms int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.bounds.Retries(ms * 1e6)
}

// giveUp reports whether an acquire may be given up: the last one that waits for a lock never is, because what a hang is can only be seen
// while a client waits (rule J8). It then counts as one that waits no more.
func (m *monitor) giveUp(op int64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.waiters.giveUp(op)
}

// hanging are those who wait for a lock that none of them was granted in their phase.
func (m *monitor) hanging() []pendingAcquire {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.waiters.hanging()
}

// mayHold reports whether a client may have one of some locks.
func (m *monitor) mayHold(client string, keys map[string]bool, done bool) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.claims.mayHold(client, keys, done)
}

// minTTL is the shortest time to live that a server was seen to grant, 0 if none was seen.
func (m *monitor) minTTL() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.minTTLLocked()
}

func (m *monitor) minTTLLocked() int64 {
	if len(m.ttl) == 0 {
		return 0
	}
	return slices.Min(slices.Collect(maps.Keys(m.ttl)))
}

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
