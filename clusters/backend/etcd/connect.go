package etcd

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"

	"lockcheck/clusters/client"
)

// leaseSeconds is the lease to ask for: etcd counts whole seconds.
func leaseSeconds(ttlMS int64) int { return int(max(1, (ttlMS+999)/1000)) }

// allMembers names them in an order of the client's own. (The library balances requests over all members; which one a
// client's keep-alive stream ends up on is drawn by it.)
func allMembers(init client.Init) []string {
	endpoints := slices.Clone(init.Endpoints)
	rand.New(rand.NewPCG(uint64(init.Seed), 0)).Shuffle(len(endpoints), func(i, j int) {
		endpoints[i], endpoints[j] = endpoints[j], endpoints[i]
	})
	return endpoints
}

// oneMember is another one for each of the clients that a run begins with: their seeds follow one another.
func oneMember(init client.Init) []string {
	if len(init.Endpoints) == 0 {
		return nil
	}
	return init.Endpoints[uint64(init.Seed)%uint64(len(init.Endpoints)):][:1]
}

// passwordTimeout is how long a member may take to check a password, which costs it much on purpose. Clients that gave up soon and asked
// again would keep a busy member checking passwords that no client waits for.
const passwordTimeout = 10 * time.Second

// connect makes the library's client. One that has to show a password asks for a token at once, and fails if no member can be
// reached; a client that starts while it is cut off has to wait. The library has one limit for a token and for a lease's first keep-alive.
func connect(ctx context.Context, config clientv3.Config) (*clientv3.Client, error) {
	if config.Username == "" {
		return clientv3.New(config)
	}
	keepAlive := config.DialTimeout + time.Second
	config.DialTimeout = passwordTimeout
	life, end := context.WithCancel(context.WithoutCancel(ctx)) // the client's, which outlives ctx
	config.Context = life
	defer context.AfterFunc(ctx, end)()
	for {
		etcd, err := clientv3.New(config)
		if err == nil {
			leases := etcd.Lease
			etcd.Lease = clientv3.NewLeaseFromLeaseClient(clientv3.RetryLeaseClient(etcd), etcd, keepAlive)
			return etcd, leases.Close()
		}
		if errors.Is(rpctypes.Error(err), rpctypes.ErrAuthFailed) {
			return nil, err
		}
		select {
		case <-time.After(retryPause):
		case <-ctx.Done():
			return nil, err
		}
	}
}

// dialConfig is what a careful user sets, and nothing that would change how a recipe behaves.
func dialConfig(endpoints []string, init client.Init, observer *observer) (clientv3.Config, error) {
	ttl := time.Duration(leaseSeconds(init.TTLMS)) * time.Second
	access := init.Access()
	secure, err := access.Config()
	options := observer.dialOptions()
	if access.ServerName != "" { // the library has gRPC verify the host of each endpoint, whatever its configuration of TLS says
		options = append(options, grpc.WithAuthority(access.ServerName))
	}
	return clientv3.Config{
		Endpoints: endpoints,
		TLS:       secure, Username: access.Username, Password: access.Password.Reveal(),
		// A session whose first keep-alive is never answered is given up by the library after DialTimeout + 1 s: let that
		// be the lease's time, not longer. (Exactly 0 would mean 5 s.)
		DialTimeout: max(ttl-time.Second, 500*time.Millisecond),
		// Without these, a member that vanished without a word is noticed only after minutes. 10 s is the least that
		// gRPC allows.
		DialKeepAliveTime:    10 * time.Second,
		DialKeepAliveTimeout: 3 * time.Second,
		Logger:               zap.NewNop(),
		DialOptions: append(options,
			// A member that comes back is used again within about a second instead of up to two minutes.
			grpc.WithConnectParams(grpc.ConnectParams{
				Backoff:           backoff.Config{BaseDelay: 100 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: time.Second},
				MinConnectTimeout: time.Second,
			})),
	}, err
}
