package etcd

import (
	"context"
	"sync/atomic"

	"google.golang.org/grpc/stats"
)

type (
	sendingKey struct{}
	// sending is one request's mark that it may have left the process.
	sending struct{ maybe atomic.Bool }
)

// sendings is a stats handler that tells which requests may have left the process.
type sendings struct{}

func (sendings) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context { return ctx }

// HandleRPC marks a request once its headers were handed to a connection. gRPC says so on the request's own goroutine,
// before the payload follows, and for every connection that it tries: a request that ended without the mark was never
// given to one.
func (sendings) HandleRPC(ctx context.Context, s stats.RPCStats) {
	switch s.(type) {
	case *stats.OutHeader, *stats.OutPayload:
		if sent, ok := ctx.Value(sendingKey{}).(*sending); ok {
			sent.maybe.Store(true)
		}
	}
}

func (sendings) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }
func (sendings) HandleConn(context.Context, stats.ConnStats)                       {}
