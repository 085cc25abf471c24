package targets

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"lockcheck/nemesis"
	"lockcheck/nemesis/agent"
	"lockcheck/nemesis/agent/shaper"
)

// limits are the hosts that are held to a rate now.
type limits struct {
	mu sync.Mutex
	on map[string]limit // by host
}

// limit is a rate, and to whom its transfers are made.
type limit struct {
	bits int64 // a second
	to   link
}

func newLimits() *limits { return &limits{on: map[string]limit{}} }

// transferTime is what a measured transfer takes at least under its limit: what it sends beyond a burst.
const transferTime = 50 * time.Millisecond

// minTransferPart is how much of that it has to take: the bucket of the kernel counts in ticks.
const minTransferPart = 0.9

func (l limit) bytes() int64 {
	return shaper.Burst(l.bits) + int64(float64(l.bits)/8*transferTime.Seconds())
}

// limited reports whether a transfer took as long as the limit asks.
func (l limit) limited(took time.Duration) bool {
	return took.Seconds() >= minTransferPart*transferTime.Seconds()
}

// Limit holds what the host sends to a rate, and shows by a transfer that it is no faster.
func (l link) Limit(ctx context.Context, bits int64, peers []nemesis.Linked) (since time.Time, words string, err error) {
	var at limit
	if at.to, err = l.openPeer(peers); err != nil {
		return since, "", err
	}
	at.bits = bits
	if err := at.to.do(ctx, agent.RateListen, struct{}{}, nil); err != nil {
		return since, "", err
	}
	l.agents.limits.mu.Lock()
	l.agents.limits.on[l.host.Name()] = at
	l.agents.limits.mu.Unlock()
	if err := l.do(ctx, agent.RateLimit, agent.Limit{Bits: bits}, nil); err != nil {
		return since, "", err
	}
	since = time.Now()
	seen, err := l.transfer(ctx, at)
	switch {
	case err != nil:
		return since, "", err
	case !at.limited(seen.Took):
		return since, "", fmt.Errorf("a limit of %d bit/s was set, and %d bytes took %v all the same", bits, at.bytes(), seen.Took)
	case seen.HeldBack == 0:
		return since, "", fmt.Errorf("a limit of %d bit/s was set, and the kernel held no packet back", bits)
	}
	return since, transferWords(at, seen), nil
}

// openPeer is the first peer that no cut keeps from the host.
func (l link) openPeer(peers []nemesis.Linked) (link, error) {
	for _, p := range peers {
		peer, err := linkOf(p)
		if err != nil {
			return link{}, err
		}
		if l.agents.cuts.open(l, peer) {
			return peer, nil
		}
	}
	return link{}, errors.New("no link is open on which a transfer could be measured")
}

// open reports whether no cut lies between two hosts, in either direction.
func (c *cuts) open(a, b link) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	there, back := passage{from: a, to: b}.way(), passage{from: b, to: a}.way()
	for _, ways := range c.cut {
		if slices.Contains(ways, there) || slices.Contains(ways, back) {
			return false
		}
	}
	return a.host.Name() != b.host.Name()
}

// unlimitTimeout bounds how long transfers may stay slow once a limit was removed: connections find their speed again in some round trips.
const unlimitTimeout = 8 * time.Second

// Unlimit takes the limit back, and shows that a transfer is faster than it would have let it be.
func (l link) Unlimit(ctx context.Context) (string, error) {
	l.agents.limits.mu.Lock()
	at, ok := l.agents.limits.on[l.host.Name()]
	delete(l.agents.limits.on, l.host.Name())
	l.agents.limits.mu.Unlock()
	if !ok {
		return "", nil
	}
	if err := l.do(ctx, agent.RateUnlimit, struct{}{}, nil); err != nil {
		return "", err
	}
	for deadline := time.Now().Add(unlimitTimeout); ; {
		seen, err := l.transfer(ctx, at)
		switch {
		case err != nil:
			return "", err
		case !at.limited(seen.Took):
			return transferWords(at, seen), nil
		case time.Now().After(deadline):
			return "", fmt.Errorf("the limit of %d bit/s was removed, and %d bytes take %v all the same", at.bits, at.bytes(), seen.Took)
		}
	}
}

func (l link) transfer(ctx context.Context, at limit) (seen agent.Transferred, err error) {
	err = l.do(ctx, agent.RateTransfer, agent.Transfer{Addr: at.to.host.Addr(), Bytes: at.bytes()}, &seen)
	return seen, err
}

func transferWords(at limit, seen agent.Transferred) string {
	words := fmt.Sprintf("%d bytes to %s took %.4f s", at.bytes(), at.to.host.Name(), seen.Took.Seconds())
	if at.limited(seen.Took) {
		return words
	}
	return words + ", less than the limit would have let it"
}
