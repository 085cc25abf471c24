package nemesis

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"lockcheck/checker/history"
)

// partition drops the packets between sets of hosts.
var partition = Kind{
	Name:    "partition",
	plural:  "partitions",
	About:   "drops packets, both ways or one (in, out): a holder from everybody, servers from each other, any pair of sides",
	Usual:   "partition:holder@work,1.5..2.2ttl,partition:leader,1.2..2.2ttl,partition:holder-servers@work,1.5..2.2ttl,partition:minority,1.2..2.2ttl,partition:bridge,1.2..2.2ttl,partition:client,0.2..1ttl",
	needs:   PowerNetwork,
	targets: []string{roleHolder, "waiter", roleClient, "clients", roleLeader, "follower", roleOne, "minority", "majority", roleServer, roleBridge},
	usual:   usual{of: outlivesLease},
	accepts: accepts{peer: true},
	words:   []string{"in", "out"},
	begin:   func(ctx context.Context, a *act) error { return a.cut(ctx, 1) },
	requires: func(f Fault) []string {
		switch {
		case f.Target.Name == roleHolder && f.outlives() && slices.Contains([]string{"", roleServers, roleEverything}, f.Peer.Name):
			return []string{history.PastLease("partitions")}
		case f.Target.Name == roleHolder: // who still reaches some of the servers may go on to renew
			return []string{history.OfHolders("partitions")}
		case roles[f.Target.Name].clients:
			return []string{"partitions"}
		}
		return []string{history.OfServers("partitions")}
	},
}

// loss drops a share of the packets, at random.
var loss = Kind{
	Name:     "loss",
	plural:   "losses",
	About:    "random packet loss between a target and the others (30%)",
	Usual:    "loss:holder@work,30%,0.5..2ttl,loss:leader,30%,0.5..2ttl,loss:client,60%,0.5..2ttl",
	needs:    PowerNetwork,
	targets:  partition.targets[:len(partition.targets)-1],
	usual:    usual{of: ttls(0.5, 2), share: 0.3},
	accepts:  accepts{peer: true, share: true},
	words:    []string{"in", "out"},
	begin:    func(ctx context.Context, a *act) error { return a.cut(ctx, a.Share) },
	requires: ofWhom("losses"),
}

// cut drops a share of the packets between the act's target and its other side, and has it read back.
func (a *act) cut(ctx context.Context, share float64) error {
	linked, ok := a.target.(Linked)
	if !ok {
		return unable(a.target, "cut off")
	}
	peers := a.peers(ctx)
	if len(peers) == 0 {
		return errors.New("there is nobody on the other side now")
	}
	cut := Cut{In: !a.has("out"), Out: !a.has("in"), Share: share}
	var names []string
	for _, p := range peers {
		other, ok := p.(Linked)
		if !ok {
			return unable(p, "cut off")
		}
		cut.Peers = append(cut.Peers, other)
		names = append(names, p.Name())
	}
	name := fmt.Sprintf("%s-%d", a.Kind, a.stage.NextOp())
	a.undo = func(ctx context.Context) error { return linked.Mend(ctx, name, cut.Peers) }
	slices.Sort(names)
	a.event.Detail = fmt.Sprintf("%s %s", cut.words(), strings.Join(names, ", "))
	return linked.Cut(ctx, name, cut)
}

func (c Cut) words() string {
	way := "packets from and to"
	switch {
	case !c.Out:
		way = "packets from"
	case !c.In:
		way = "packets to"
	}
	if c.Share < 1 {
		return fmt.Sprintf("%.0f %% of the %s", 100*c.Share, way)
	}
	return way
}

// peers is the other side: whom the fault names, else everybody for a client and the other servers for a server.
func (a *act) peers(ctx context.Context) []Target {
	var side []Target
	own := a.group(ctx)
	name := a.Peer.Name
	if name == "" {
		name = roleServers
		if roles[a.Target.Name].clients {
			name = roleEverything
		}
	}
	switch name {
	case roleResource:
		side = []Target{a.stage.Resource()}
	case roleServers:
		side = a.stage.Nodes()
	case roleEverything:
		side = append(append(a.stage.Nodes(), a.stage.Clients()...), a.stage.Resource())
	default:
		side = roles[name].find(ctx, aim{stage: a.stage, role: a.Peer, pick: a.pick, not: own})
	}
	return slices.DeleteFunc(side, func(t Target) bool { return own[t.Name()] })
}

// group is all that is on the target's own side: a minority is cut off from the others, not from itself. In a bridge,
// one server more is on neither side.
func (a *act) group(ctx context.Context) map[string]bool {
	own := map[string]bool{a.target.Name(): true}
	role := roles[a.Target.Name]
	if role.clients && a.Target.Name != "clients" {
		return own
	}
	if a.Target.Name == roleLeader || a.Target.Name == "follower" || a.Target.Name == roleOne {
		return own
	}
	for _, t := range role.find(ctx, aim{stage: a.stage, role: a.Target, pick: a.pick}) {
		own[t.Name()] = true
	}
	if a.Target.Name == roleBridge {
		nodes := a.stage.Nodes()
		shuffle(nodes, a.pick)
		own[nodes[len(nodes)-1].Name()] = true
	}
	return own
}
