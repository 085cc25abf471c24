package etcd

import (
	"sync"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"

	"lockcheck/clusters/client"
)

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
