package etcd

import (
	"context"
	"sync"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"lockcheck/clusters/client"
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
	defer func() { // each sending of a recipe's request counts, but for watches, which are a stream
		if sent.maybe.Load() && attemptOf(ctx) != nil {
			client.Asked(ctx)
		}
	}()
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
		if a := attemptOf(ctx); a != nil && !isLeaseGone(err) { // what else was removed is not told
			a.removal(sent.maybe.Load(), false, 0, err)
		}
		return err
	case *pb.RangeRequest:
		err := invoke(ctx, method, req, reply, cc, opts...)
		if a := attemptOf(ctx); a != nil && err == nil && a.waits(req, reply.(*pb.RangeResponse)) {
			client.Queued(ctx)
		}
		return err
	case *pb.TxnRequest:
		err := invoke(ctx, method, req, reply, cc, opts...)
		o.transacted(ctx, req, seen, sent.maybe.Load(), reply.(*pb.TxnResponse), err)
		return err
	case *pb.DeleteRangeRequest:
		return o.remove(ctx, method, req, reply.(*pb.DeleteRangeResponse), cc, &sent, invoke, opts)
	}
	return invoke(ctx, method, req, reply, cc, opts...)
}

// attempt finds which operation a request for a lock's key belongs to. A removal that a recipe makes on its own, when its
// waiting was given up, does not have the operation's context.
func (o *observer) attempt(ctx context.Context, key []byte) *attempt {
	if a := attemptOf(ctx); a != nil {
		return a
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.attempts[string(key)]
}

// transacted looks at what became of a transaction. All recipes compare the create revision of the lock's key: with none,
// to put it, or with that of the own one, to delete it.
func (o *observer) transacted(ctx context.Context, req *pb.TxnRequest, seen int64, sent bool, resp *pb.TxnResponse, err error) {
	if len(req.Compare) != 1 || len(req.Success) == 0 {
		return
	}
	compare := req.Compare[0]
	a := o.attempt(ctx, compare.Key)
	if a == nil {
		return
	}
	if isLeaseGone(err) {
		o.watch.Ended(a.session, err)
	}
	owner := compare.GetCreateRevision()
	switch {
	case req.Success[0].GetRequestPut() != nil && owner == 0:
		a.put(seen, sent, resp, err)
	case req.Success[0].GetRequestDeleteRange() != nil:
		if err == nil && !resp.Succeeded {
			owner = 0 // the key of that revision is not there, and none is made at the same one again
		}
		a.removal(sent, true, owner, err)
	}
}

// remove asks the server to return the key that it deleted: whether it was there and, by its create revision, whose it was.
// The mutex deletes blindly by name.
func (o *observer) remove(ctx context.Context, method string, req *pb.DeleteRangeRequest, reply *pb.DeleteRangeResponse, cc *grpc.ClientConn, sent *sending, invoke grpc.UnaryInvoker, opts []grpc.CallOption) error {
	a := o.attempt(ctx, req.Key)
	if a == nil {
		return invoke(ctx, method, req, reply, cc, opts...)
	}
	withPrevious := proto.Clone(req).(*pb.DeleteRangeRequest)
	withPrevious.PrevKv = true
	err := invoke(ctx, method, withPrevious, reply, cc, opts...)
	var owner int64
	if kvs := reply.GetPrevKvs(); len(kvs) > 0 {
		owner = kvs[0].CreateRevision
	}
	a.removal(sent.maybe.Load(), true, owner, err)
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
