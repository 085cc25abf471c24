package targets

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"lockcheck/nemesis"
	"lockcheck/nemesis/agent"
	"lockcheck/nemesis/agent/delay"
	"lockcheck/nemesis/agent/firewall"
)

// lags are the delays that stand.
type lags struct {
	mu  sync.Mutex
	all map[string]lagging
}

// lagging is one delay, and where: from one host to another.
type lagging struct {
	ways   [][2]string
	amount delay.Amount
}

func newLags() *lags { return &lags{all: map[string]lagging{}} }

func (l *lags) add(name string, lag lagging) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all[name] = lag
}

func (l *lags) remove(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.all, name)
}

// on is the sum of the delays of a way, but for the named one.
func (l *lags) on(way [2]string, but string) (sum delay.Amount) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for name, lag := range l.all {
		if name != but && slices.Contains(lag.ways, way) {
			sum.Mean, sum.Spread = sum.Mean+lag.amount.Mean, sum.Spread+lag.amount.Spread
		}
	}
	return sum
}

// longest is how long a packet may take on any of these passages because of delays that stand.
func (l *lags) longest(passages []passage) (longest time.Duration) {
	for _, p := range passages {
		longest = max(longest, l.on(p.way(), "").High())
	}
	return longest
}

// Delay holds packets back, and then shows with datagrams that carry the time on every link and in each direction that those which
// should take at least as long as was asked, and at best no longer than is tolerated; and that the other direction is as it was.
func (l link) Delay(ctx context.Context, name string, lag nemesis.Lag) (since time.Time, err error) {
	passages, links, err := l.lagPassages(lag)
	if err != nil {
		return since, err
	}
	l.agents.lags.add(name, lagging{ways: heldWays(passages), amount: lag.Amount})
	if err := l.do(ctx, agent.DelayStart, agent.StartDelay{Name: name, Links: links, Amount: lag.Amount}, nil); err != nil {
		return since, err
	}
	return time.Now(), l.agents.verifyDelays(ctx, name, passages, lag.Amount)
}

// Undelay takes a delay back, and shows that packets take less than it again and that none was lost.
func (l link) Undelay(ctx context.Context, name string, lag nemesis.Lag) (report delay.Report, err error) {
	passages, _, err := l.lagPassages(lag)
	if err != nil {
		return report, err
	}
	if err := l.do(ctx, agent.DelayStop, agent.Unblock{Name: name}, &report); err != nil {
		return report, err
	}
	l.agents.lags.remove(name)
	for i := range passages {
		passages[i].open = true
	}
	err = l.agents.verifyDelays(ctx, name+"-over", passages, lag.Amount) // datagrams of before do not count
	if lost := report.Lost(); lost != nil {
		err = errors.Join(err, fmt.Errorf("on %s: %w", l.host.Name(), lost))
	}
	return report, err
}

// lagPassages are all ways of the links; those that are not to be delayed are open.
func (l link) lagPassages(lag nemesis.Lag) (passages []passage, links []firewall.Link, err error) {
	for _, p := range lag.Peers {
		peer, err := linkOf(p)
		if err != nil {
			return nil, nil, err
		}
		links = append(links, firewall.Link{Peer: peer.host.Addr(), In: lag.In, Out: lag.Out})
		passages = append(passages, passage{from: peer, to: l, open: !lag.In}, passage{from: l, to: peer, open: !lag.Out})
	}
	return passages, links, nil
}

func heldWays(passages []passage) (ways [][2]string) {
	for _, p := range passages {
		if !p.open {
			ways = append(ways, p.way())
		}
	}
	return ways
}

// probeGap is how long datagrams that show a delay are apart.
const probeGap = 10 * time.Millisecond

// verifyDelays sends datagrams on every passage, but where another fault cuts it off, until one of each was on its way for as long as
// it should be. None of those that are held may be quicker. What other delays add counts, too.
func (a *Agents) verifyDelays(ctx context.Context, name string, passages []passage, amount delay.Amount) error {
	held := len(heldWays(passages))
	passages = slices.DeleteFunc(slices.Clone(passages), func(p passage) bool { return a.cuts.dropped(p.way()) })
	if held > 0 && len(heldWays(passages)) == 0 {
		return errors.New("another fault drops all packets that would be delayed")
	}
	if _, err := timedProbes(ctx, name, passages); err != nil { // has all of them listen
		return err
	}
	deadline := time.Now().Add(a.lags.longest(passages) + amount.Tolerance() + healTimeout)
	took := map[[2]string]time.Duration{}
	for waiting := passages; len(waiting) > 0; {
		unsent, err := sendTimed(ctx, name, waiting)
		if err != nil {
			return err
		}
		select {
		case <-time.After(probeGap):
		case <-ctx.Done():
			return ctx.Err()
		}
		heard, err := timedProbes(ctx, name, passages)
		if err != nil {
			return err
		}
		if waiting, err = a.judgeProbes(name, passages, waiting, heard, amount, took); err != nil {
			return err
		}
		if len(waiting) > 0 && time.Now().After(deadline) {
			p := waiting[0]
			best, some := took[p.way()]
			if !some {
				p.word = timedWord(name, p)
				return notPassing([]passage{p}, unsent)
			}
			return fmt.Errorf("packets from %s to %s take %v at best, and %v was asked for", p.way()[0], p.way()[1], best.Round(time.Microsecond), amount)
		}
	}
	return nil
}

// judgeProbes returns the passages of which no datagram was on its way for as long as it should be.
func (a *Agents) judgeProbes(name string, passages, waiting []passage, heard map[string]time.Duration, amount delay.Amount, took map[[2]string]time.Duration) ([]passage, error) {
	for _, p := range passages {
		best, ok := heard[timedWord(name, p)]
		if !ok {
			continue
		}
		if before, some := took[p.way()]; !some || best < before {
			took[p.way()] = best
		}
		if !p.open && best < amount.Low() {
			return nil, fmt.Errorf("packets from %s to %s take %v, less than the %v that was asked for", p.way()[0], p.way()[1], best.Round(time.Microsecond), amount)
		}
	}
	return slices.DeleteFunc(slices.Clone(waiting), func(p passage) bool {
		best, some := took[p.way()]
		others := a.lags.on(p.way(), name)
		switch {
		case !some:
			return false
		case p.open && others.Mean > 0: // it is as the others have it
			return true
		case p.open:
			return best < amount.Low()
		}
		return best <= amount.High()+amount.Tolerance()+others.High()
	}), nil
}

// timedWord tells a delay's datagrams of one way from all others; their least time counts.
func timedWord(name string, p passage) string { return name + ":" + p.way()[0] + ">" + p.way()[1] }

func sendTimed(ctx context.Context, name string, passages []passage) (agent.Unsent, error) {
	all := agent.Unsent{}
	err := eachHost(passages, func(p passage) link { return p.from }, func(from link, passages []passage) (func(), error) {
		var asks agent.Calls
		for _, p := range passages {
			asks.Calls = append(asks.Calls, agent.Call{Addr: p.to.host.Addr(), Word: timedWord(name, p)})
		}
		var unsent agent.Unsent
		err := from.do(ctx, agent.DelaySend, asks, &unsent)
		return func() { maps.Copy(all, unsent) }, err
	})
	return all, err
}

// timedProbes are how long datagrams were on their way at best, by their words.
func timedProbes(ctx context.Context, name string, passages []passage) (map[string]time.Duration, error) {
	all := map[string]time.Duration{}
	err := eachHost(passages, func(p passage) link { return p.to }, func(to link, passages []passage) (func(), error) {
		var asks agent.Heard
		for _, p := range passages {
			asks.Words = append(asks.Words, timedWord(name, p))
		}
		var heard agent.Timed
		err := to.do(ctx, agent.DelayHeard, asks, &heard)
		return func() { maps.Copy(all, heard) }, err
	})
	return all, err
}
