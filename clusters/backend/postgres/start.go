package postgres

import (
	"context"
	"slices"
	"sync"

	"lockcheck/clusters"
)

// Launch starts the servers, the first as the primary. The second waits for it by itself, and makes its data as a copy. So does a pooler
// wait for its server.
func (Backend) Launch(ctx context.Context, site clusters.Site, layout clusters.Layout) ([]clusters.Node, error) {
	hosts, err := clusters.Hosts(ctx, site, slices.Concat(layout.Nodes, layout.Fronts))
	if err != nil {
		return nil, err
	}
	found, err := site.Server(ctx)
	if err != nil {
		return nil, err
	}
	front, err := poolerFor(found, layout.Settings)
	if err != nil {
		return nil, err
	}
	keeping, together := hosts[:len(layout.Nodes)], &pair{}
	for i, host := range keeping {
		l := &launched{pair: together, told: server{self: host, values: layout.Settings}, found: found, follow: i > 0}
		if len(keeping) > 1 {
			l.told.other = keeping[1-i]
		}
		together.servers = append(together.servers, l)
	}
	nodes, err := clusters.Together(len(keeping), func(i int) (clusters.Node, error) { return together.servers[i].start(ctx) })
	if err != nil || !pooled(layout.Settings) {
		return nodes, err
	}
	started, err := startPooler(ctx, hosts[len(keeping)], front, keeping[0].Addr(), layout.Settings)
	if err != nil {
		return nodes, err
	}
	return append(nodes, started), nil
}

// pair is the servers that lockcheck started: what is done to one may have to be done to the other.
type pair struct {
	mu      sync.Mutex
	servers []*launched
}

// launched is a server that lockcheck started.
type launched struct {
	*clusters.Server
	pair   *pair
	told   server
	found  clusters.Command
	follow bool // it is a standby, or to become one
	remake bool // its data is of no use any more: the next start makes it anew
	remade bool // that was done because the other came back empty: a fault that killed it at the same time need not start it again
}

func (l *launched) start(ctx context.Context) (clusters.Node, error) {
	command, err := l.told.command(l.found, l.follow)
	if err != nil {
		return nil, err
	}
	l.Server, err = clusters.StartServer(ctx, l.told.self, command)
	return l, err
}

func (l *launched) ended() bool {
	select {
	case <-l.Process().Done():
		return true
	default:
		return false
	}
}

// other is the server beside it, nil for one that is alone.
func (l *launched) other() *launched {
	for _, o := range l.pair.servers {
		if o != l {
			return o
		}
	}
	return nil
}

// Restart starts the server again. An empty primary is a new cluster, whose standby is made anew: the old one's data is that
// of another.
func (l *launched) Restart(ctx context.Context, empty bool) error {
	l.pair.mu.Lock()
	defer l.pair.mu.Unlock()
	if l.remade && !l.ended() {
		l.remade = false
		return nil
	}
	empty = empty || l.remake
	if err := l.restart(ctx, empty); err != nil {
		return err
	}
	standby := l.other()
	if standby == nil || !empty || l.follow {
		return nil
	}
	if standby.ended() { // it is started again by the one who ended it
		standby.remake = true
		return nil
	}
	if err := standby.Process().Kill(ctx); err != nil {
		return err
	}
	if err := standby.restart(ctx, true); err != nil {
		return err
	}
	standby.remade = true
	return nil
}

// restart is called with the pair's mu held.
func (l *launched) restart(ctx context.Context, empty bool) error {
	command, err := l.told.command(l.found, l.follow)
	if err != nil {
		return err
	}
	l.SetCommand(command)
	if err := l.Server.Restart(ctx, empty); err != nil {
		return err
	}
	l.remake, l.remade = false, false
	return nil
}

// retire kills a primary that is to become its standby's standby, and reports whether it is still to be started as that: one
// that had ended before is started again by the one who ended it.
func (l *launched) retire(ctx context.Context) (restart bool, err error) {
	l.pair.mu.Lock()
	defer l.pair.mu.Unlock()
	restart = !l.ended()
	if err := l.Process().Kill(ctx); err != nil {
		return false, err
	}
	l.follow, l.remake = true, true
	if next := l.other(); next != nil {
		next.follow = false
	}
	return restart, nil
}
