package etcd

import (
	"context"
	"sync"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/stats"
	"google.golang.org/protobuf/proto"

	"lockcheck/workloads/client"
)

// observer sees every request of the client and its answer, below the library's own retries, because the recipe hides
// what the rules need: when leases were acknowledged (R5), which attempt won and with which revision, and whose key an
// unlock removed (R6).
type observer struct {
	watch client.Watch

	mu       sync.Mutex
	attempts map[string]*attempt // by the lock's key: one operation on it at a time
}

func newObserver(watch client.Watch) *observer {
	return &observer{watch: watch, attempts: map[string]*attempt{}}
}

func (o *observer) dialOptions() []grpc.DialOption {
	return []grpc.DialOption{
		grpc.WithChainUnaryInterceptor(o.unary), // after the library's own, so that it sees each attempt
		grpc.WithChainStreamInterceptor(o.stream),
		grpc.WithStatsHandler(sendings{}),
	}
}

// unary takes seen before the request can be sent, and looks at the answer before the library does.
func (o *observer) unary(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	seen := o.watch.Seen()
	var sent sending
	ctx = context.WithValue(ctx, sendingKey{}, &sent)
	switch req := req.(type) {
	case *pb.LeaseGrantRequest:
		err := invoke(ctx, method, req, reply, cc, opts...)
		if resp := reply.(*pb.LeaseGrantResponse); err == nil && resp.Error == "" {
			o.watch.Lease(sessionName(resp.ID), seen, time.Duration(resp.TTL)*time.Second)
		}
		return err
	case *pb.LeaseRevokeRequest:
		err := invoke(ctx, method, req, reply, cc, opts...)
		if err == nil || isLeaseGone(err) {
			o.watch.Ended(sessionName(req.ID), errRevoked)
		}
		return err
	case *pb.TxnRequest:
		err := invoke(ctx, method, req, reply, cc, opts...)
		if a := attemptOf(ctx); a != nil {
			a.answered(seen, sent.maybe.Load(), reply.(*pb.TxnResponse), err)
			if isLeaseGone(err) {
				o.watch.Ended(a.session(), err)
			}
		}
		return err
	case *pb.DeleteRangeRequest:
		return o.remove(ctx, method, req, reply.(*pb.DeleteRangeResponse), cc, &sent, invoke, opts)
	}
	return invoke(ctx, method, req, reply, cc, opts...)
}

// remove asks the server to tell which key it deleted: that it was there and, by its create revision, whose it was.
// The recipe deletes blindly by name.
func (o *observer) remove(ctx context.Context, method string, req *pb.DeleteRangeRequest, reply *pb.DeleteRangeResponse, cc *grpc.ClientConn, sent *sending, invoke grpc.UnaryInvoker, opts []grpc.CallOption) error {
	a := attemptOf(ctx)
	if a == nil { // an unlock that Lock makes on its own, when its waiting was given up, does not have our context
		o.mu.Lock()
		a = o.attempts[string(req.Key)]
		o.mu.Unlock()
	}
	if a == nil {
		return invoke(ctx, method, req, reply, cc, opts...)
	}
	telling := proto.Clone(req).(*pb.DeleteRangeRequest)
	telling.PrevKv = true
	err := invoke(ctx, method, telling, reply, cc, opts...)
	a.deleted(sent.maybe.Load(), reply, err)
	return err
}

// stream watches the keep-alives of leases.
func (o *observer) stream(ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string, open grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	inner, err := open(ctx, desc, cc, method, opts...)
	if err != nil || method != pb.Lease_LeaseKeepAlive_FullMethodName {
		return inner, err
	}
	return &keepAlives{ClientStream: inner, watch: o.watch, sent: map[int64][]int64{}}, nil
}

// keepAlives pairs the requests of one keep-alive stream with their answers: the server answers every request of a
// stream in order, so the nth answer for a lease is that of the nth request for it.
type keepAlives struct {
	grpc.ClientStream
	watch client.Watch

	mu   sync.Mutex
	sent map[int64][]int64 // by lease: the last ping read before each request that is not answered yet
}

func (k *keepAlives) SendMsg(m any) error {
	if req, ok := m.(*pb.LeaseKeepAliveRequest); ok {
		seen := k.watch.Seen()
		k.mu.Lock()
		k.sent[req.ID] = append(k.sent[req.ID], seen)
		k.mu.Unlock()
	}
	return k.ClientStream.SendMsg(m) // if it fails the stream is over, and its list with it
}

func (k *keepAlives) RecvMsg(m any) error {
	if err := k.ClientStream.RecvMsg(m); err != nil {
		return err
	}
	resp, ok := m.(*pb.LeaseKeepAliveResponse)
	if !ok {
		return nil
	}
	k.mu.Lock()
	waiting := k.sent[resp.ID]
	if len(waiting) == 0 { // an answer to nothing proves nothing
		k.mu.Unlock()
		return nil
	}
	seen := waiting[0]
	if k.sent[resp.ID] = waiting[1:]; len(waiting) == 1 {
		delete(k.sent, resp.ID)
	}
	k.mu.Unlock()
	if resp.TTL <= 0 { // how the server says "lease not found" on this stream
		k.watch.Ended(sessionName(resp.ID), errLeaseGone)
		return nil
	}
	k.watch.Lease(sessionName(resp.ID), seen, time.Duration(resp.TTL)*time.Second)
	return nil
}

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
