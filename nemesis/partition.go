package nemesis

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"lockcheck/checker/history"
)

// A partition drops the packets between sets of hosts.
var _ = does(history.PartitionFault, dropping(func(*act) float64 { return 1 }))

// dropping is a fault that drops packets between its target and the other side, and has it read back. Share says which part of them.
func dropping(share func(*act) float64) behaviour {
	return on("cut off", func(ctx context.Context, a *act, linked Linked) error { return a.cut(ctx, linked, share(a)) })
}

func (a *act) cut(ctx context.Context, linked Linked, share float64) error {
	peers, names, err := a.links(ctx, "cut off")
	if err != nil {
		return err
	}
	cut := Cut{Peers: peers, In: !a.has("out"), Out: !a.has("in"), Share: share}
	name := a.opName()
	a.undo = func(ctx context.Context) error { return linked.Unblock(ctx, name, cut.Peers) }
	a.event.Detail = fmt.Sprintf("%s %s", cut.words(), strings.Join(names, ", "))
	return linked.Block(ctx, name, cut)
}

// links are the targets on the other side and, in order, their names.
func (a *act) links(ctx context.Context, what string) (links []Linked, names []string, err error) {
	for _, p := range a.peers(ctx) {
		other, ok := p.(Linked)
		if !ok {
			return nil, nil, unable(p, what)
		}
		links = append(links, other)
		names = append(names, p.Name())
	}
	if len(links) == 0 {
		return nil, nil, errors.New("there is no target on the other side now")
	}
	slices.Sort(names)
	return links, names, nil
}

// opName is another name for each fault of a run.
func (a *act) opName() string { return fmt.Sprintf("%s-%d", a.Kind, a.env.NextOp()) }

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

// peers is the other side: the targets that the fault names, else all for a client and the other servers for a server.
func (a *act) peers(ctx context.Context) []Target {
	var side []Target
	own := a.group(ctx)
	name := a.Peer.Name
	if name == "" {
		name = roleServers
		if roles[a.Target.Name].Clients {
			name = roleEverything
		}
	}
	switch name {
	case roleResource:
		side = []Target{a.env.Resource()}
	case roleServers:
		side = a.env.Nodes()
	case roleEverything:
		side = append(append(a.env.Nodes(), a.env.Clients()...), a.env.Resource())
	default:
		side = roles[name].find(ctx, aim{env: a.env, role: a.Peer, pick: a.pick, not: own})
	}
	return slices.DeleteFunc(side, func(t Target) bool { return own[t.Name()] })
}

// group is all that is on the target's own side: a minority is cut off from the others, not from itself. In a bridge,
// one server more is on neither side.
func (a *act) group(ctx context.Context) map[string]bool {
	own := map[string]bool{a.target.Name(): true}
	role := roles[a.Target.Name]
	if role.Clients && a.Target.Name != "clients" {
		return own
	}
	if a.Target.Name == roleLeader || a.Target.Name == roleFollower || a.Target.Name == roleOne || a.Target.Name == roleAPIServer {
		return own
	}
	for _, t := range role.find(ctx, aim{env: a.env, role: a.Target, pick: a.pick}) {
		own[t.Name()] = true
	}
	if a.Target.Name == roleBridge {
		nodes := members(a.env)
		shuffle(nodes, a.pick)
		own[nodes[len(nodes)-1].Name()] = true
	}
	return own
}
