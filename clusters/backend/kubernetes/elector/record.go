package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"lockcheck/clusters/client"
)

// record is the Lease as one elector reads and writes it: what the elector asks for and keeps to itself is seen here.
type record struct {
	resourcelock.Interface
	watch   client.Watch
	acquire context.Context // of the acquire, for what is counted of it
	elector context.Context // done once the elector was asked to end

	mu      sync.Mutex
	release context.Context // of the release, once there is one
	grant   grant
	over    error                              // what a server said by which the grant is not there any more
	anew    bool                               // after that a record like the grant's was sent: the same identity and number
	read    *resourcelock.LeaderElectionRecord // by the last Get; nil if there was none
	readErr error
	giving  giving
}

// grant is what is known of the elector's own first write that took effect.
type grant struct {
	granted     bool
	transitions int
	seen        int64 // the last ping read before it was sent
	doubt       bool  // an earlier write got no answer: it may have been that one
}

// leads reports whether a server has acknowledged the record as the elector's.
func (r *record) leads() bool { return r.won().granted }

func (r *record) won() grant {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.grant
}

func (r *record) last() giving {
	r.mu.Lock()
	defer r.mu.Unlock()
	g := r.giving
	g.over, g.readErr = r.over, r.readErr
	return g
}

func (r *record) setRelease(ctx context.Context) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.release = ctx
}

// Get reads the record, from etcd's quorum.
func (r *record) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	r.asked()
	read, raw, err := r.Interface.Get(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.read, r.readErr = read, err
	switch {
	case apierrors.IsNotFound(err):
		r.end(errors.New("there is no such Lease"))
	case err != nil:
	case r.grant.granted && !r.own():
		r.end(fmt.Errorf("the Lease is held by %q, after %d transitions", read.HolderIdentity, read.LeaderTransitions))
	case !r.grant.granted && read.HolderIdentity != "" && read.HolderIdentity != r.Identity():
		client.Queued(r.acquire)
	}
	return read, raw, err
}

// own reports whether what was read last is the record of this grant. mu is held.
func (r *record) own() bool {
	return r.read != nil && r.over == nil && r.read.HolderIdentity == r.Identity() && r.read.LeaderTransitions == r.grant.transitions
}

// end notes that a server said that the grant is over. mu is held.
func (r *record) end(why error) {
	if r.grant.granted && r.over == nil {
		r.over = why
		r.watch.Ended(r.Identity(), why)
	}
}

// Create makes the record.
func (r *record) Create(ctx context.Context, of resourcelock.LeaderElectionRecord) error {
	return r.write(ctx, of, r.Interface.Create)
}

// Update replaces the record that was read or written last, if the server has still that one.
func (r *record) Update(ctx context.Context, of resourcelock.LeaderElectionRecord) error {
	if of.HolderIdentity == "" {
		return r.giveBack(ctx, of)
	}
	return r.write(ctx, of, r.Interface.Update)
}

// write makes the record the elector's, or renews it.
func (r *record) write(ctx context.Context, of resourcelock.LeaderElectionRecord, write func(context.Context, resourcelock.LeaderElectionRecord) error) error {
	r.asked()
	r.noteAnew(of)
	seen := r.watch.Seen()
	ctx, sent := withSending(ctx)
	err := write(ctx, of)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		if sent.lost() && !r.grant.granted && !r.grant.doubt {
			r.grant.doubt, r.grant.seen = true, seen
		}
		return err
	}
	if !r.grant.granted {
		if !r.grant.doubt {
			r.grant.seen = seen
		}
		r.grant.granted, r.grant.transitions = true, of.LeaderTransitions
	}
	r.acknowledged(of, seen)
	return nil
}

// noteAnew notes, before it is sent, a record that no reader can tell from that of the grant that is over.
func (r *record) noteAnew(of resourcelock.LeaderElectionRecord) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.anew = r.anew || r.over != nil && of.LeaderTransitions == r.grant.transitions
}

// acknowledged reports the lease that a server has acknowledged. Once the record was another's the elector may take it again, and
// goes on as if nothing had been: its user is not told, so guards count from that, but it is no lease of this grant.
func (r *record) acknowledged(of resourcelock.LeaderElectionRecord, seen int64) {
	ttl := time.Duration(of.LeaseDurationSeconds) * time.Second
	if r.over == nil && of.LeaderTransitions == r.grant.transitions {
		r.watch.Lease(r.Identity(), seen, ttl)
		return
	}
	client.Answered(r.watch, r.Identity(), seen, ttl)
}

// asked counts a request of the acquire.
func (r *record) asked() {
	if !r.leads() {
		client.Asked(r.acquire)
	}
}
