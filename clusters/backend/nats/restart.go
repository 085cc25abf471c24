package nats

import (
	"context"
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

// Restart starts the server again. Without its data it is the same server to the others (its server_name is set), and they send it
// everything anew. That is waited for: the next server that loses its data before that could be the last that had it.
func (l *launched) Restart(ctx context.Context, empty bool) error {
	if err := l.Server.Restart(ctx, empty); err != nil || !empty || l.cluster == nil {
		return err
	}
	_ = clusters.Until(ctx, catchUpTimeout, lookEvery, func(ctx context.Context) error { return l.cluster.complete(l.cluster.statuses(ctx)) })
	return clusters.Ended(l, called)
}
