package consul

import (
	"context"
	"errors"
	"time"

	"lockcheck/clusters"
)

// launched is a server that lockcheck started.
type launched struct {
	*clusters.Server
	cluster *cluster // that it belongs to, once it is connected to
}

var _ clusters.Restarter = (*launched)(nil)

// catchUpTimeout is how long a server that lost its data may take to have the others', on a host that may be cut off from them.
const catchUpTimeout = 3 * time.Second

// Restart starts the server again. Without its data it is the same server to the others (its node_id is set) and has
// forgotten what it had promised and written; the leader sends it everything anew. That is waited for: the next server that
// loses its data before that could be the last that had it. One that does not get it in time goes on trying.
func (l *launched) Restart(ctx context.Context, empty bool) error {
	if !empty || l.cluster == nil {
		return l.Server.Restart(ctx, empty)
	}
	there := l.cluster.committed(ctx)
	if err := l.Server.Restart(ctx, true); err != nil {
		return err
	}
	n := clusters.Named(l.cluster.nodes, l.Name())
	_ = clusters.Until(ctx, catchUpTimeout, lookEvery, func(ctx context.Context) error {
		s, err := n.status(ctx)
		if err == nil && s.applied < there {
			err = errBehind
		}
		return err
	})
	return n.alive()
}

var errBehind = errors.New("it has not all that the others have")

// committed is how far the servers that answer know the log to be committed.
func (c *cluster) committed(ctx context.Context) (index int64) {
	for _, a := range c.statuses(ctx) {
		if a.Err == nil {
			index = max(index, a.Value.committed)
		}
	}
	return index
}
