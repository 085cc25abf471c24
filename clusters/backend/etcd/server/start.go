package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path"
	"strings"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"

	"lockcheck/clusters"
)

const (
	lookEvery = 10 * time.Millisecond // while they do
	// DataName names a member's data and its log: etcd.log.
	DataName = "etcd"
)

// Launch starts the members on hosts of their own.
func (Members) Launch(ctx context.Context, site clusters.Site, layout clusters.Layout) ([]clusters.Node, error) {
	command, err := site.Server(ctx)
	if err != nil {
		return nil, err
	}
	hosts, err := clusters.Hosts(ctx, site, layout.Nodes)
	if err != nil {
		return nil, err
	}
	return LaunchOn(ctx, site.Dial, hosts, command, layout.Settings)
}

// LaunchOn starts a member on each host, once the one before answers its peers; command is what starts etcd's program. A new
// member asks all others whether they know it already; started at once, they all listen but do not answer yet, and each waits out
// a fixed second for each other. One after the other takes a tenth of a second each.
func LaunchOn(ctx context.Context, dial clusters.Dialer, hosts []clusters.Host, command clusters.Command, settings map[string]string) ([]clusters.Node, error) {
	command.Log, command.Data = DataName, DataName
	var peers []peer
	for _, host := range hosts {
		peers = append(peers, peer{host.Name(), host.Addr()})
	}
	var nodes []clusters.Node
	for _, host := range hosts {
		n, err := launch(ctx, host, command, member{name: host.Name(), addr: host.Addr(), peers: peers, values: settings})
		if err != nil {
			return nil, err
		}
		if err := awaitPeerPort(ctx, dial, n); err != nil {
			return nil, err
		}
		nodes = append(nodes, n)
	}
	return nodes, nil
}

// launched is a member whose process lockcheck started.
type launched struct {
	*clusters.Server
	member  member           // what its process was told
	command clusters.Command // starts a server, to be completed with that
	cluster *Cluster         // that it belongs to, once there are connections
}

func launch(ctx context.Context, host clusters.Host, command clusters.Command, m member) (*launched, error) {
	dir, err := host.DataDir(DataName)
	if err != nil {
		return nil, err
	}
	// A directory that the member makes itself: etcd 3.4 refuses one that others may read, as an image's volume is.
	m.data = path.Join(dir, "data")
	server, err := clusters.StartServer(ctx, host, m.complete(command))
	if err != nil {
		return nil, err
	}
	return &launched{Server: server, member: m, command: command}, nil
}

// awaitPeerPort waits until the member answers its peers, with any answer.
func awaitPeerPort(ctx context.Context, dial clusters.Dialer, n clusters.Node) error {
	ask := http.Client{Timeout: askTimeout, Transport: &http.Transport{DisableKeepAlives: true, DialContext: dial}}
	return clusters.Settled(ctx, called, []clusters.Node{n}, lookEvery, func(context.Context) error {
		answer, err := ask.Get("http://" + net.JoinHostPort(n.Addr(), peerPort) + "/members")
		if err == nil {
			err = answer.Body.Close()
		}
		return err
	}, func(missed, _ error) error {
		return fmt.Errorf("etcd member %s does not answer its peers: %w%s", n.Name(), missed, clusters.LastWords(n))
	})
}

// called is what errors call a member.
const called = "etcd member"

// alive is an error if the member's process has ended.
func (n *node) alive() error { return clusters.Ended(n.Node, called) }

// settle waits until all members name one of them as leader, and returns its name.
func (c *Cluster) settle(ctx context.Context) (string, error) {
	begun := time.Now()
	var answers []answer
	var leader string
	err := clusters.Settled(ctx, called, c.Nodes(), lookEvery, func(unbound context.Context) (err error) {
		answers = c.statuses(unbound)
		leader, err = c.agreed(answers)
		return err
	}, func(_, over error) error {
		return c.unsettled(answers, time.Since(begun), over)
	})
	return leader, err
}

var errNotAgreed = errors.New("the members do not all answer and name the same leader")

func (c *Cluster) agreed(answers []answer) (string, error) {
	for _, a := range answers {
		if a.Err != nil {
			return "", errNotAgreed
		}
		c.learn(a.Value.Header.MemberId, a.Node.Name())
	}
	first := answers[0].Value.Leader
	for _, a := range answers {
		if a.Value.Leader == 0 || a.Value.Leader != first {
			return "", errNotAgreed
		}
	}
	leader := c.nameOf(first)
	if leader == "" {
		return "", errNotAgreed
	}
	return leader, nil
}

// unsettled says what each member was doing when time was up.
func (c *Cluster) unsettled(answers []answer, after time.Duration, why error) error {
	var text strings.Builder
	fmt.Fprintf(&text, "they did not agree on a leader within %.1f s", after.Seconds())
	for _, a := range answers {
		if a.Err != nil {
			fmt.Fprintf(&text, "\n  %s does not answer: %v", a.Node.Name(), a.Err)
		} else {
			fmt.Fprintf(&text, "\n  %s: term %d, leader %q, %v", a.Node.Name(), a.Value.RaftTerm, c.nameOf(a.Value.Leader), a.Value.Errors)
		}
		text.WriteString(clusters.LastWords(a.Node.Node))
	}
	return fmt.Errorf("%s: %w", text.String(), why)
}

// verify writes through every member, reads it back through the next one's quorum, and looks at the lease that the
// servers grant: the faults are scaled by it.
func (c *Cluster) verify(ctx context.Context, ttl time.Duration) error {
	for i, n := range c.nodes {
		value := fmt.Sprintf("%s %d", n.Name(), time.Now().UnixNano())
		if _, err := pb.NewKVClient(n.conn).Put(ctx, &pb.PutRequest{Key: []byte(probeKey), Value: []byte(value)}); err != nil {
			return fmt.Errorf("a write to member %s: %w", n.Name(), err)
		}
		next := c.nodes[(i+1)%len(c.nodes)]
		got, err := pb.NewKVClient(next.conn).Range(ctx, &pb.RangeRequest{Key: []byte(probeKey)})
		if err != nil {
			return fmt.Errorf("a read from member %s: %w", next.Name(), err)
		}
		if len(got.Kvs) != 1 || string(got.Kvs[0].Value) != value {
			return fmt.Errorf("member %s took the write %q but %s reads %v", n.Name(), value, next.Name(), got.Kvs)
		}
	}
	leases := pb.NewLeaseClient(c.nodes[0].conn)
	lease, err := leases.LeaseGrant(ctx, &pb.LeaseGrantRequest{TTL: int64(ttl / time.Second)})
	if err != nil {
		return fmt.Errorf("a lease of %v: %w", ttl, err)
	}
	if granted := time.Duration(lease.TTL) * time.Second; granted != ttl {
		return fmt.Errorf("asked for a lease of %v, the members granted %v: the settings do not honour it", ttl, granted)
	}
	if _, err := leases.LeaseRevoke(ctx, &pb.LeaseRevokeRequest{ID: lease.ID}); err != nil {
		return fmt.Errorf("revoke a lease: %w", err)
	}
	return nil
}
