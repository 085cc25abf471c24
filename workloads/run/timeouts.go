package run

import (
	"sync"
	"time"

	"lockcheck/checker/history"
	"lockcheck/nemesis"
)

// timeouts decides when an operation has been waited for long enough to be called unknown. No operation times out
// while a fault touches its client, nor for a grace period after it (rule R8): a fault would otherwise turn every
// operation it meets into one of unknown outcome, and a history full of those proves nothing.
type timeouts struct {
	limit time.Duration // also the grace period
	// patient: who waits for a lock waits for as long as it takes. A schedule waits for its lock: given up, the request may still be granted,
	// and nothing would be known of a slot that is missed because the lock hangs (rule J12).
	patient bool
	queue   time.Duration // what a whole round of all clients may take, and a lock delay before it, for those who wait for their turn

	mu      sync.Mutex
	active  map[int64]string // fault -> target
	touched map[string]int64 // target -> when its last fault was gone
	servers map[string]bool  // and the service as a whole: their faults touch all clients
}

func newTimeouts(plan history.Plan, servers []string) *timeouts {
	p := &timeouts{
		patient: plan.Jobs(), limit: time.Duration(plan.AnswerMS()) * time.Millisecond, queue: queueing(plan),
		active: map[int64]string{}, touched: map[string]int64{}, servers: map[string]bool{},
	}
	for _, name := range append([]string{nemesis.Service}, servers...) {
		p.servers[name] = true
	}
	return p
}

// queueing is how long a round of all clients may take. One long hold may come in between, and a third of the time goes to them at most.
func queueing(plan history.Plan) time.Duration {
	ms := plan.LockDelayMS + 2*int64(plan.Clients)*plan.Works().ToMS
	if plan.Works().Long {
		ms += ms/2 + 4*plan.EffectiveMS
	}
	return time.Duration(ms) * time.Millisecond
}

// watch follows the faults in the history.
func (p *timeouts) watch(event history.Event) {
	if event.Process != history.NemesisProcess {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case event.Type == history.Invoke && !event.Heal:
		p.active[event.Op] = event.Target
	case event.Type != history.Invoke && (event.Heal || event.Type == history.Fail):
		delete(p.active, event.Op)
		p.touched[event.Target] = event.TimeNS
	}
}

// expired reports whether an operation of client, invoked at invokedNS, has been waited for long enough at nowNS. A client that
// waits for a lock is touched by every fault: it waits for the client that the fault has hit.
func (p *timeouts) expired(client string, waits bool, invokedNS, nowNS int64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if waits && p.patient {
		return false
	}
	touches := func(target string) bool { return waits || target == client || p.servers[target] }
	for _, target := range p.active {
		if touches(target) {
			return false
		}
	}
	since := invokedNS
	for target, at := range p.touched {
		if touches(target) {
			since = max(since, at)
		}
	}
	limit := p.limit
	if waits {
		limit += p.queue
	}
	return nowNS-since > int64(limit)
}
