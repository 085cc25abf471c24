package server

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"sync"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"lockcheck/clusters"
)

// askTimeout is how long one member may take to say how it is. A paused one takes for ever.
const askTimeout = 400 * time.Millisecond

const (
	probeTry     = time.Second      // for one write; on an idle machine it takes a millisecond
	probeTimeout = 20 * time.Second // many elections
)

// probeKey is written by probes. Lock clients put their keys below other prefixes.
const probeKey = "lockcheck-probe"

// Cluster is the running members. It asks each over a connection of its own, without any client library's choice of
// member and repeated tries: what one member says is what is to be known.
type Cluster struct {
	nodes []*node
	ttl   time.Duration // that the members were asked to grant

	mu    sync.Mutex
	names map[uint64]string // of members, by their ids
}

// learn takes a member's id. It has one at a time.
func (c *Cluster) learn(id uint64, name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	maps.DeleteFunc(c.names, func(_ uint64, of string) bool { return of == name })
	c.names[id] = name
}

// nameOf is the name of the member with an id, "" if there is none.
func (c *Cluster) nameOf(id uint64) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.names[id]
}

var (
	_ clusters.Cluster        = (*Cluster)(nil)
	_ clusters.Standing       = (*Cluster)(nil)
	_ clusters.LeaderReporter = (*Cluster)(nil)
)

// Connect prepares a connection to each member, which is made when it is first used and again whenever it broke.
func (Members) Connect(service clusters.Service) (clusters.Cluster, error) {
	return Connect(service)
}

// Connect is that of Members.
func Connect(service clusters.Service) (*Cluster, error) {
	c := &Cluster{ttl: service.Layout.EffectiveTTL, names: map[uint64]string{}}
	for _, at := range service.Nodes {
		n := &node{Node: at}
		c.nodes = append(c.nodes, n)
		if err := n.connect(service.Dial); err != nil {
			return nil, errors.Join(fmt.Errorf("connecting to etcd member %s: %w", n.Name(), err), c.Close())
		}
		if own, ok := at.(*launched); ok {
			own.cluster = c
		}
	}
	return c, nil
}

// node is a member and the harness's connection to it.
type node struct {
	clusters.Node
	conn *grpc.ClientConn
}

func (n *node) endpoint() string { return net.JoinHostPort(n.Addr(), ClientPort) }

func (n *node) connect(dial clusters.Dialer) (err error) {
	n.conn, err = grpc.NewClient("passthrough:///"+n.endpoint(),
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, addr string) (net.Conn, error) { return dial(ctx, "tcp", addr) }),
		grpc.WithNoProxy(), // the run's network is private, even if the environment names a proxy
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: 20 * time.Millisecond, Multiplier: 1.5, MaxDelay: 300 * time.Millisecond},
			MinConnectTimeout: time.Second,
		}))
	return err
}

func (n *node) status(ctx context.Context) (*pb.StatusResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	return pb.NewMaintenanceClient(n.conn).Status(ctx, &pb.StatusRequest{})
}

// Nodes are the members as they were given: one that lockcheck launched can be started again.
func (c *Cluster) Nodes() []clusters.Node {
	return clusters.Each(c.nodes, func(n *node) clusters.Node { return n.Node })
}

// Standing names the leader.
func (c *Cluster) Standing(ctx context.Context) (string, error) { return clusters.Leads(ctx, c) }

func (c *Cluster) Endpoints() []string { return clusters.Each(c.nodes, (*node).endpoint) }

// Ready returns once all members name the same leader, each took a write that is then read through another's quorum,
// and the lease asked for was granted.
func (c *Cluster) Ready(ctx context.Context) error {
	for {
		if _, err := c.settle(ctx); err != nil {
			return err
		}
		if err := c.verify(ctx, c.ttl); !unanswered(err) || ctx.Err() != nil {
			return err
		}
	}
}

// unanswered reports whether a member could not carry a request out: the leader on which all had agreed may have lost its office
// since, and they have to agree once more.
func unanswered(err error) bool { return status.Code(err) == codes.Unavailable }

// Close ends the connections to the members, not the members.
func (c *Cluster) Close() error {
	var errs []error
	for _, n := range c.nodes {
		if n.conn != nil {
			errs = append(errs, n.conn.Close())
		}
	}
	return errors.Join(errs...)
}

// answer is what one member said of itself, or why it did not.
type answer = clusters.Answer[*node, *pb.StatusResponse]

func (c *Cluster) statuses(ctx context.Context) []answer {
	return clusters.AskAll(ctx, c.nodes, func(ctx context.Context, n *node) (*pb.StatusResponse, error) { return n.status(ctx) })
}

// Versions is one version if all members that answer run the same, else all of them by name.
func (c *Cluster) Versions(ctx context.Context) (map[string]string, error) {
	version, err := clusters.OneVersion(ctx, "etcd member", c.nodes, func(ctx context.Context, n *node) (string, error) {
		status, err := n.status(ctx)
		return status.GetVersion(), err
	})
	if err != nil {
		return nil, err
	}
	return map[string]string{Name: version}, nil
}

// Probe puts one key, through whichever member takes it, and gives up when ctx is done or after probeTimeout.
func (c *Cluster) Probe(ctx context.Context) error {
	return clusters.WriteToAny(ctx, probeTimeout, probeTry, "etcd member", c.nodes, func(ctx context.Context, n *node) error {
		_, err := pb.NewKVClient(n.conn).Put(ctx, &pb.PutRequest{Key: []byte(probeKey), Value: []byte(n.Name())})
		return err
	})
}

// Leader believes the members with the highest term.
func (c *Cluster) Leader(ctx context.Context) (string, error) {
	leader, _, err := clusters.LeaderOfHighestTerm("etcd member", c.statuses(ctx), func(a answer) (uint64, int64) {
		return a.Value.Leader, int64(a.Value.RaftTerm)
	})
	if err != nil {
		return "", err
	}
	return c.nameOf(leader), nil
}
