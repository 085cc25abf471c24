package main

import (
	"context"
	"errors"
	"sync"
	"time"

	pb "go.etcd.io/etcd/etcdserver/etcdserverpb"
	"google.golang.org/grpc"

	"lockcheck/clusters/client"
)

// observer sees each sending of each request, because the recipes hide them.
type observer struct{ watch client.Watch }

// attempt is what is known of the requests of one acquire or release.
type attempt struct {
	session  string
	revision int64 // of the key that was put
	seen     int64 // the last ping read before that
	silent   bool  // a request that puts or deletes got no answer
	answered bool  // a removal was acknowledged
	own      bool  // and it removed the key
}

type attemptKey struct{}

func withAttempt(ctx context.Context, a *attempt) context.Context {
	return context.WithValue(ctx, attemptKey{}, a)
}

// owned is nil where the answer does not say it: an earlier sending of the removal may have been the one that removed the key.
func (a *attempt) owned() *bool {
	if !a.answered || !a.own && a.silent {
		return nil
	}
	return &a.own
}

func (o observer) unary(ctx context.Context, method string, req, reply interface{}, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	seen := o.watch.Seen()
	a, _ := ctx.Value(attemptKey{}).(*attempt)
	if a != nil {
		client.Asked(ctx)
	}
	if remove, ok := req.(*pb.DeleteRangeRequest); ok && a != nil { // whether the key was there
		asked := *remove
		asked.PrevKv = true
		req = &asked
	}
	err := invoke(ctx, method, req, reply, cc, opts...)
	switch resp := reply.(type) {
	case *pb.LeaseGrantResponse:
		if err == nil && resp.Error == "" {
			o.watch.Lease(sessionName(resp.ID), seen, time.Duration(resp.TTL)*time.Second)
		}
	case *pb.TxnResponse:
		if a != nil {
			o.transacted(a, req.(*pb.TxnRequest), resp, seen, err)
		}
	case *pb.DeleteRangeResponse:
		if a != nil {
			a.removal(len(resp.PrevKvs) > 0, err)
		}
	case *pb.RangeResponse:
		if a != nil && err == nil && a.revision != 0 && len(resp.Kvs) > 0 {
			client.Queued(ctx)
		}
	}
	return err
}

// transacted takes the answer to the put of a request for the lock, or to the removal of an election's.
func (o observer) transacted(a *attempt, req *pb.TxnRequest, resp *pb.TxnResponse, seen int64, err error) {
	if isLeaseGone(err) {
		o.watch.Ended(a.session, err)
		return
	}
	switch {
	case len(req.Success) == 0:
	case req.Success[0].GetRequestDeleteRange() != nil:
		a.removal(resp.Succeeded, err)
	case req.Success[0].GetRequestPut() == nil:
	case err != nil:
		a.silent = true
	case resp.Succeeded:
		a.revision, a.seen = resp.Header.Revision, seen
	default: // an earlier sending put it, at an unknown time
		if kvs := resp.Responses[0].GetResponseRange().GetKvs(); len(kvs) > 0 {
			a.revision, a.seen = kvs[0].CreateRevision, 0
		}
	}
}

func (a *attempt) removal(own bool, err error) {
	if err != nil {
		a.silent = true
		return
	}
	a.answered, a.own = true, own
}

func (o observer) stream(ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string, open grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	inner, err := open(ctx, desc, cc, method, opts...)
	if err != nil || method != "/etcdserverpb.Lease/LeaseKeepAlive" {
		return inner, err
	}
	return &keepAlives{ClientStream: inner, watch: o.watch, sent: map[int64][]int64{}}, nil
}

// keepAlives sees the extensions of all leases, which share a stream.
type keepAlives struct {
	grpc.ClientStream
	watch client.Watch

	mu   sync.Mutex
	sent map[int64][]int64 // by lease: the last ping read before each request that is not answered yet
}

func (k *keepAlives) SendMsg(m interface{}) error {
	if req, ok := m.(*pb.LeaseKeepAliveRequest); ok {
		seen := k.watch.Seen()
		k.mu.Lock()
		k.sent[req.ID] = append(k.sent[req.ID], seen)
		k.mu.Unlock()
	}
	return k.ClientStream.SendMsg(m) // if it fails the stream is over, and its list with it
}

func (k *keepAlives) RecvMsg(m interface{}) error {
	if err := k.ClientStream.RecvMsg(m); err != nil {
		return err
	}
	resp, ok := m.(*pb.LeaseKeepAliveResponse)
	if !ok {
		return nil
	}
	k.mu.Lock()
	waiting := k.sent[resp.ID]
	if len(waiting) > 0 {
		k.sent[resp.ID] = waiting[1:]
	}
	k.mu.Unlock()
	switch {
	case len(waiting) == 0: // an answer to nothing proves nothing
	case resp.TTL <= 0: // how the server says "lease not found" on this stream
		k.watch.Ended(sessionName(resp.ID), errors.New("lease not found"))
	default:
		k.watch.Lease(sessionName(resp.ID), waiting[0], time.Duration(resp.TTL)*time.Second)
	}
	return nil
}
