package workloads

import (
	"context"
	"fmt"
	"time"

	"lockcheck/clusters"
	"lockcheck/nemesis"
	"lockcheck/nemesis/agent"
	"lockcheck/nemesis/agent/firewall"
)

// link is the end of a host's links to others, with any process on it.
type link struct {
	agents *agents
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
