package simulated

import (
	"maps"
	"slices"
	"strconv"
)

// pollingService keeps, for each lock, the secret of its owner and when that expires.
type pollingService struct {
	w      *world
	count  int64
	owners map[string]*owner
	ahead  int64 // of the machine's wall clock: the server's own
	setNS  int64 // one of the two was set last
}

type owner struct {
	hold   *hold
	dropAt int64 // by the server's wall clock: the key is gone from there on
	until  int64 // of the run: it would be gone from there on, were the server's clock right
}

// clock is the server's wall clock.
func (p *pollingService) clock() int64 { return p.w.Now + p.w.wallAhead + p.ahead }

// owner is who has a lock now.
func (p *pollingService) owner(key string) *owner {
	o := p.owners[key]
	if o != nil && o.dropAt <= p.clock() {
		p.expire(key)
		o = nil
	}
	return o
}

func (p *pollingService) free(key string, ns int64) {
	p.w.ended(p.owners[key].hold, ns)
	delete(p.owners, key)
}

// settle ends what had run out before the run did.
func (p *pollingService) settle() {
	for _, key := range slices.Sorted(maps.Keys(p.owners)) {
		p.owner(key)
	}
}

// setClock sets the wall clock by so much, which ends what has run out by it then.
func (p *pollingService) setClock(by int64) {
	p.settle()
	p.w.wallAhead += by
	p.setNS = p.w.Now
	p.dropExpired()
}

// dropExpired ends what has run out by the server's clock, which was set.
func (p *pollingService) dropExpired() {
	for _, key := range slices.Sorted(maps.Keys(p.owners)) {
		if p.owners[key].dropAt <= p.clock() {
			p.expire(key)
		}
	}
}

// expire ends what has run out by the server's clock, at the moment at which it did.
func (p *pollingService) expire(key string) {
	o := p.owners[key]
	at := min(max(o.dropAt-p.w.wallAhead-p.ahead, p.setNS), p.w.Now)
	if at < o.until {
		p.lost(o.hold, at)
	}
	p.free(key, at)
}

// lose ends what is neither given back nor over.
func (p *pollingService) lose(key string) {
	p.lost(p.owners[key].hold, p.w.Now)
	p.free(key, p.w.Now)
}

// lost records that the service lost a grant before its time.
func (p *pollingService) lost(h *hold, ns int64) {
	if t := p.w.truth(h); t.LostNS == 0 {
		t.LostNS = ns
	}
}

// until is when a lease ends that is given now, by the time of the run.
func (p *pollingService) until() int64 {
	slack := p.w.up(2 * ms)
	if p.w.chance(0.05) {
		slack = p.w.slack()
	}
	if p.w.Defect == NeverFree {
		return never
	}
	return p.w.Now + p.w.lifetime() + slack
}

// setIfAbsent answers with a token if the lock was free.
func (p *pollingService) setIfAbsent(h *hold) (token string, ok bool) {
	w := p.w
	switch {
	case p.owner(h.key) != nil && !w.flawed(DoubleGrant, 0.1):
		return "", false
	case p.owner(h.key) == nil && w.flawed(BusyWhenFree, 0.3):
		return "", false
	case p.owner(h.key) != nil:
		p.free(h.key, w.Now)
	}
	p.count++
	o := &owner{hold: h}
	p.prolong(o)
	p.owners[h.key] = o
	w.granted(h)
	return strconv.FormatInt(p.count+7, 10), true
}

// prolong gives an owner a new lease. It never gets shorter by it.
func (p *pollingService) prolong(o *owner) {
	until := p.until()
	o.until = max(o.until, until)
	if until != never {
		until += p.clock() - p.w.Now
	}
	o.dropAt = max(o.dropAt, until)
}

// extend reports whether the hold still has its lock.
func (p *pollingService) extend(h *hold) bool {
	o := p.owner(h.key)
	if o == nil || o.hold != h {
		return p.w.flawed(LeaseRevived, 1)
	}
	if p.w.Defect != ExtensionNotApplied {
		p.prolong(o)
	}
	return true
}

// release reports whether the hold had the lock.
func (p *pollingService) release(h *hold) bool {
	w := p.w
	o := p.owner(h.key)
	switch {
	case o == nil:
		return w.flawed(ReleaseInvented, 1)
	case o.hold != h && (w.Defect == ReleaseByAnyone || w.Defect == UnlockByName):
		p.free(h.key, w.Now)
		return w.Defect == UnlockByName
	case o.hold != h:
		return w.flawed(ReleaseInvented, 1)
	case w.flawed(ReleaseNotDone, 0.3):
		return true
	}
	p.free(h.key, w.Now)
	if w.flawed(RecordLeft, 0.05) {
		p.owners[h.key] = &owner{hold: &hold{key: h.key}, dropAt: never, until: never}
	}
	return !w.flawed(ReleaseDenied, 0.3)
}
