package server

import (
	"context"

	"lockcheck/clusters"
)

// Settled waits until a look finds nothing missing, or a process of these has ended.
func Settled(ctx context.Context, nodes []clusters.Node, look func(context.Context) error) error {
	return clusters.Settled(ctx, "redis server or Sentinel of", nodes, LookEvery, look, clusters.LastLook)
}
