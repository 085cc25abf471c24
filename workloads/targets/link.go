package targets

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"lockcheck/clusters"
	"lockcheck/nemesis"
	"lockcheck/nemesis/agent"
	"lockcheck/nemesis/agent/firewall"
)

// link is the end of a host's links to others, with any process on it.
type link struct {
	agents *Agents
	host   clusters.Host
}

// Block drops packets and then shows, with datagrams on every link and in each direction, that none arrives where none
// should and that the other direction is as it was.
func (l link) Block(ctx context.Context, name string, cut nemesis.Cut) error {
	on, err := l.agents.at(ctx, l.host)
	if err != nil {
		return err
	}
	block := agent.Block{Name: name}
	var passages []passage
	for _, p := range cut.Peers {
		peer, err := linkOf(p)
		if err != nil {
			return err
		}
		block.Links = append(block.Links, firewall.Link{Peer: peer.host.Addr(), In: cut.In, Out: cut.Out, Share: cut.Share})
		passages = append(passages, passage{from: peer, to: l, open: !cut.In}, passage{from: l, to: peer, open: !cut.Out})
	}
	all := cut.Share == 1
	if all { // said before it is done: a call that ends another cut at the same time must not wait for these
		l.agents.cuts.add(name, passages)
	}
	if err := on.Do(ctx, agent.NetworkBlock, block, nil); err != nil {
		return err
	}
	if !all {
		return awaitLoss(ctx, on, name)
	}
	return verifyPaths(ctx, l.agents.cuts.withoutOtherCuts(name, passages))
}

// lossTimeout bounds how long a loss at random may drop nothing before it counts as one without effect: keep-alives
// and heartbeats pass every few hundred milliseconds.
const lossTimeout = 3 * time.Second

// awaitLoss returns once the kernel has counted a packet that was dropped: what one datagram of ours meets at random
// would prove nothing.
func awaitLoss(ctx context.Context, on *agent.Agent, name string) error {
	for deadline := time.Now().Add(lossTimeout); ; {
		var dropped uint64
		if err := on.Do(ctx, agent.NetworkDropped, agent.Unblock{Name: name}, &dropped); err != nil || dropped > 0 {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("no packet was lost within %v", lossTimeout)
		}
		select {
		case <-time.After(5 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Unblock takes a cut back and shows that packets pass again both ways, but for where another cut still drops them.
func (l link) Unblock(ctx context.Context, name string, peers []nemesis.Linked) error {
	on, err := l.agents.at(ctx, l.host)
	if err != nil {
		return err
	}
	if err := on.Do(ctx, agent.NetworkUnblock, agent.Unblock{Name: name}, nil); err != nil {
		return err
	}
	l.agents.cuts.remove(name)
	var passages []passage
	for _, p := range peers {
		peer, err := linkOf(p)
		if err != nil {
			return err
		}
		passages = append(passages, passage{from: peer, to: l, open: true}, passage{from: l, to: peer, open: true})
	}
	return verifyPaths(ctx, l.agents.cuts.withoutOtherCuts(name, passages))
}

// linkOf is the link of a target that package nemesis hands back.
func linkOf(p nemesis.Linked) (link, error) {
	able, ok := p.(interface{ end() link })
	if !ok {
		return link{}, fmt.Errorf("%s has no link of this run", p.Name())
	}
	return able.end(), nil
}

func (l link) end() link { return l }

// passage is one direction between two hosts, and whether packets are to pass.
type passage struct {
	from, to link
	open     bool
	word     string
}

func (p passage) way() [2]string { return [2]string{p.from.host.Name(), p.to.host.Name()} }

// cuts is where packets are dropped now: all of them, not a share.
type cuts struct {
	mu  sync.Mutex
	cut map[string][][2]string // by the name of the cut: from one host to another
}

func newCuts() *cuts { return &cuts{cut: map[string][][2]string{}} }

func (c *cuts) add(name string, passages []passage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range passages {
		if !p.open {
			c.cut[name] = append(c.cut[name], p.way())
		}
	}
}

func (c *cuts) remove(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.cut, name)
}

// withoutOtherCuts leaves out those that should be open but for another cut than the named one.
func (c *cuts) withoutOtherCuts(name string, passages []passage) []passage {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.DeleteFunc(passages, func(p passage) bool {
		for other, ways := range c.cut {
			if p.open && other != name && slices.Contains(ways, p.way()) {
				return true
			}
		}
		return false
	})
}

// dropped reports whether any cut drops what goes that way.
func (c *cuts) dropped(way [2]string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, ways := range c.cut {
		if slices.Contains(ways, way) {
			return true
		}
	}
	return false
}

// cutProbeWait is how long a datagram is given to arrive on a link that is to be cut. On one machine it takes well under a
// millisecond; packets that are not dropped would be heard in this time, or the cut is taken back as one that leaks.
const cutProbeWait = 15 * time.Millisecond

// healTimeout is how long packets may take to pass again after a cut.
const healTimeout = time.Second

var calls atomic.Int64 // makes every word another

// verifyPaths calls on every passage and says which are not as they should be. Where packets should pass it calls again until
// they do; all hosts are asked at once.
func verifyPaths(ctx context.Context, passages []passage) error {
	for i := range passages {
		p := &passages[i]
		p.word = fmt.Sprintf("%s-%s-%d", p.from.host.Name(), p.to.host.Name(), calls.Add(1))
	}
	if _, err := receivedProbes(ctx, passages); err != nil { // has all of them listen
		return err
	}
	var lag time.Duration // of delays that stand: what is not dropped may take so long
	if len(passages) > 0 {
		lag = passages[0].from.agents.lags.longest(passages)
	}
	silent := passages
	for began := time.Now(); ; {
		// Before the try: one during which an agent stood still says nothing of packets.
		last := time.Since(began) > healTimeout+lag
		unsent, err := sendProbes(ctx, silent)
		if err != nil {
			return err
		}
		if last || len(silent) == len(passages) {
			time.Sleep(cutProbeWait + lag)
		} else {
			time.Sleep(time.Millisecond)
		}
		heard, err := receivedProbes(ctx, passages)
		if err != nil {
			return err
		}
		silent = nil
		for _, p := range passages {
			switch {
			case heard[p.word] && !p.open:
				return fmt.Errorf("packets still pass from %s to %s", p.way()[0], p.way()[1])
			case !heard[p.word] && p.open:
				silent = append(silent, p)
			}
		}
		// What was heard is not asked for again.
		passages = slices.DeleteFunc(slices.Clone(passages), func(p passage) bool { return heard[p.word] })
		if len(silent) == 0 {
			return nil
		}
		if last {
			return notPassing(silent, unsent)
		}
	}
}

func notPassing(silent []passage, unsent agent.Unsent) error {
	var errs []error
	for _, p := range silent {
		err := fmt.Errorf("packets do not pass from %s to %s", p.way()[0], p.way()[1])
		if why := unsent[p.word]; why != "" {
			err = fmt.Errorf("%w: %s", err, why)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// sendProbes sends a datagram on each passage.
func sendProbes(ctx context.Context, passages []passage) (agent.Unsent, error) {
	all := agent.Unsent{}
	err := eachHost(passages, func(p passage) link { return p.from }, func(from link, passages []passage) (func(), error) {
		var asks agent.Calls
		for _, p := range passages {
			asks.Calls = append(asks.Calls, agent.Call{Addr: p.to.host.Addr(), Word: p.word})
		}
		var unsent agent.Unsent
		err := from.do(ctx, agent.NetworkCall, asks, &unsent)
		return func() { maps.Copy(all, unsent) }, err
	})
	return all, err
}

// receivedProbes asks which datagrams have arrived.
func receivedProbes(ctx context.Context, passages []passage) (map[string]bool, error) {
	heard := map[string]bool{}
	err := eachHost(passages, func(p passage) link { return p.to }, func(to link, passages []passage) (func(), error) {
		var asks agent.Heard
		for _, p := range passages {
			asks.Words = append(asks.Words, p.word)
		}
		var words []string
		err := to.do(ctx, agent.NetworkHeard, asks, &words)
		return func() {
			for _, word := range words {
				heard[word] = true
			}
		}, err
	})
	return heard, err
}

// eachHost does something at once on every host that is an end of some passages, and then takes all results, one after
// the other.
func eachHost(passages []passage, end func(passage) link, do func(link, []passage) (take func(), err error)) error {
	by := map[string][]passage{}
	for _, p := range passages {
		name := end(p).host.Name()
		by[name] = append(by[name], p)
	}
	var mu sync.Mutex
	var errs []error
	var wait sync.WaitGroup
	for _, some := range by {
		wait.Go(func() {
			take, err := do(end(some[0]), some)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				errs = append(errs, err)
				return
			}
			take()
		})
	}
	wait.Wait()
	return errors.Join(errs...)
}

func (l link) do(ctx context.Context, what string, args, result any) error {
	on, err := l.agents.at(ctx, l.host)
	if err != nil {
		return err
	}
	return on.Do(ctx, what, args, result)
}
