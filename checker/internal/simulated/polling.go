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
}

type owner struct {
	hold   *hold
	dropAt int64 // by the wall clock: the key is gone from there on
}

// owner is who has a lock now.
func (p *pollingService) owner(key string) *owner {
	o := p.owners[key]
	if o != nil && o.dropAt <= p.w.now+p.w.wallAhead {
		p.free(key, o.dropAt-p.w.wallAhead)
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
	for _, key := range slices.Sorted(maps.Keys(p.owners)) {
		if p.owners[key].dropAt <= p.w.now+p.w.wallAhead {
			p.free(key, p.w.now)
		}
	}
}

func (p *pollingService) dropAt() int64 {
	slack := p.w.up(2 * ms)
	if p.w.chance(0.05) {
		slack = p.w.slack()
	}
	if p.w.Defect == NeverFree {
		return never
	}
	return p.w.now + p.w.wallAhead + p.w.lifetime() + slack
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
		p.free(h.key, w.now)
	}
	p.count++
	p.owners[h.key] = &owner{h, p.dropAt()}
	w.granted(h)
	return strconv.FormatInt(p.count+7, 10), true
}

// extend answers whether the hold still has its lock.
func (p *pollingService) extend(h *hold) bool {
	o := p.owner(h.key)
	if o == nil || o.hold != h {
		return p.w.flawed(LeaseRevived, 1)
	}
	if p.w.Defect != ExtensionNotApplied {
		o.dropAt = max(o.dropAt, p.dropAt())
	}
	return true
}

// release answers whether the hold had the lock.
func (p *pollingService) release(h *hold) bool {
	w := p.w
	o := p.owner(h.key)
	switch {
	case o == nil:
		return w.flawed(ReleaseInvented, 1)
	case o.hold != h && (w.Defect == ReleaseByAnyone || w.Defect == UnlockByName):
		p.free(h.key, w.now)
		return w.Defect == UnlockByName
	case o.hold != h:
		return w.flawed(ReleaseInvented, 1)
	case w.flawed(ReleaseNotDone, 0.3):
		return true
	}
	p.free(h.key, w.now)
	return !w.flawed(ReleaseDenied, 0.3)
}
