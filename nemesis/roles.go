package nemesis

import (
	"context"
	"maps"
	"slices"

	"lockcheck/checker/history"
)

// role says what a target's name means.
type role struct {
	history.Target
	about    string
	numbered bool // node(1,2)
	leads    bool // means something only where a server leads
	front    bool // means something only where there are servers before others
	tested   bool // faults but partitions mean something only where the resource is under test
	peerOnly bool // no fault is aimed at it; partitions may have it on their other side
	find     func(context.Context, aim) []Target
}

// aim is what finding a target may depend on: the run, the moment that the fault waited for, the seed's choice, and who
// is on the other side already.
type aim struct {
	env    Env
	role   Role
	moment Moment
	pick   uint64
	not    map[string]bool
}

// free leaves out who is on the other side already.
func (a aim) free(targets []Target) []Target {
	return slices.DeleteFunc(targets, func(t Target) bool { return a.not[t.Name()] })
}

// The roles that code asks for by name.
const (
	roleHolder     = history.HolderTarget
	roleWaiter     = history.WaiterTarget
	roleClient     = "client"
	roleServer     = "node"
	roleOne        = "one"
	roleLeader     = "leader"
	roleFollower   = "follower"
	roleServers    = "servers"
	roleAPIServer  = "apiserver"
	roleResource   = history.ResourceTarget
	roleEverything = "everything"
	roleBridge     = "bridge"
)

// roles is the table of targets. It is filled in init because finding one may look another up in it.
var roles map[string]role

func init() {
	roles = map[string]role{
		roleHolder:     {about: "a client that holds a lock", find: findHolder},
		roleWaiter:     {about: "a client that waits for a lock", find: findWaiter},
		roleClient:     {about: "any client, or client(1,2)", numbered: true, find: findClient},
		"clients":      {about: "all clients", find: func(_ context.Context, a aim) []Target { return a.env.Clients() }},
		roleServer:     {about: "any server, or node(1,2)", numbered: true, find: findServer},
		roleOne:        {about: "one server, leading or not", find: findServer},
		roleLeader:     {about: "the server that leads", leads: true, find: findLeader},
		roleFollower:   {about: "a server that does not lead", leads: true, find: findFollower},
		"minority":     {about: "as many servers as a quorum can do without", find: some(history.Minority)},
		"majority":     {about: "as many servers as a quorum needs", find: some(history.Majority)},
		"all":          {about: "all servers", find: func(_ context.Context, a aim) []Target { return members(a.env) }},
		roleBridge:     {about: "two halves of the servers that only one server connects", find: some(history.Minority)},
		roleAPIServer:  {about: "an API server (kubernetes) or the pooler (postgres), which no quorum counts", front: true, find: findFront},
		roleServers:    {about: "other side: the other servers", peerOnly: true},
		roleResource:   {about: "the protected resource: the other side of partitions; one under test can be paused and killed, too", tested: true, find: findResource},
		roleEverything: {about: "other side: all others", peerOnly: true},
	}
	for name, r := range roles {
		r.Target = history.TargetNamed(name)
		roles[name] = r
	}
}

// meaning is what the role means, as plans know it.
func (r Role) meaning() history.Target { return history.TargetNamed(r.String()) }

// roleNames lists the roles, those that faults can be aimed at first.
func roleNames() []string {
	names := slices.Sorted(maps.Keys(roles))
	slices.SortStableFunc(names, func(a, b string) int {
		switch {
		case roles[a].peerOnly == roles[b].peerOnly:
			return 0
		case roles[a].peerOnly:
			return 1
		}
		return -1
	})
	return names
}

// findHolder is the client of the moment, if it was one of a holder; else any client that is believed to hold something.
func findHolder(_ context.Context, a aim) []Target {
	if a.moment.Client != "" && a.moment.Kind != AtQueueing {
		if target := a.env.Client(a.moment.Client); target != nil {
			return []Target{target}
		}
		return nil
	}
	var holders []Target
	for _, c := range a.free(a.env.Clients()) {
		if _, _, ok := a.env.Hold(c.Name()); ok {
			holders = append(holders, c)
		}
	}
	return pickOne(holders, a.pick)
}

func findWaiter(_ context.Context, a aim) []Target {
	if a.moment.Kind == AtQueueing {
		if target := a.env.Client(a.moment.Client); target != nil {
			return []Target{target}
		}
	}
	return pickOne(a.free(a.env.Waiters()), a.pick)
}

// findClient is any client, but the moment's if the fault waited for what one did.
func findClient(_ context.Context, a aim) []Target {
	switch {
	case len(a.role.Numbers) > 0:
		return numbered(a.role.Numbers, a.env.ClientNumber)
	case a.moment.Client != "":
		if target := a.env.Client(a.moment.Client); target != nil {
			return []Target{target}
		}
	}
	return pickOne(a.free(a.env.Clients()), a.pick)
}

// members are the servers that quorums are counted of.
func members(env Env) []Target {
	nodes := env.Nodes()
	return nodes[:len(nodes)-len(env.Fronts())]
}

func findResource(_ context.Context, a aim) []Target { return []Target{a.env.Resource()} }

func findFront(_ context.Context, a aim) []Target { return pickOne(a.free(a.env.Fronts()), a.pick) }

// findServer is any of the members, or all that are named by their numbers.
func findServer(_ context.Context, a aim) []Target {
	nodes := a.env.Nodes()
	if len(a.role.Numbers) == 0 {
		return pickOne(a.free(members(a.env)), a.pick)
	}
	return numbered(a.role.Numbers, func(n int) Target {
		if n > len(nodes) {
			return nil
		}
		return nodes[n-1]
	})
}

func findLeader(ctx context.Context, a aim) []Target {
	leader := a.env.Leader(ctx)
	return slices.DeleteFunc(members(a.env), func(t Target) bool { return leader == "" || t.Name() != leader })
}

func findFollower(ctx context.Context, a aim) []Target {
	leader := a.env.Leader(ctx)
	if leader == "" {
		return nil
	}
	followers := slices.DeleteFunc(members(a.env), func(t Target) bool { return t.Name() == leader })
	return pickOne(a.free(followers), a.pick)
}

// some finds so many of the servers, leading or not.
func some(of func(n int) int) func(context.Context, aim) []Target {
	return func(_ context.Context, a aim) []Target {
		nodes := members(a.env)
		wanted := of(len(nodes))
		shuffle(nodes, a.pick)
		nodes = a.free(nodes)
		return nodes[:min(wanted, len(nodes))]
	}
}

func numbered(numbers []int, find func(int) Target) (found []Target) {
	for _, n := range numbers {
		if target := find(n); target != nil {
			found = append(found, target)
		}
	}
	return found
}

func pickOne(targets []Target, pick uint64) []Target {
	if len(targets) == 0 {
		return nil
	}
	return []Target{targets[pick%uint64(len(targets))]}
}

func shuffle(targets []Target, pick uint64) {
	r := random(int64(pick))
	r.Shuffle(len(targets), func(i, j int) { targets[i], targets[j] = targets[j], targets[i] })
}
