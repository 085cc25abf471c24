package s3

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"regexp"
	"time"

	"lockcheck/clusters"
	"lockcheck/clusters/client"
)

const (
	port = "7070"

	askTimeout   = 2 * time.Second       // for one gateway to answer; a paused one takes for ever
	lookEvery    = 20 * time.Millisecond // while something is waited for
	probeTry     = time.Second           // for one write; on an idle machine it takes a few milliseconds
	probeTimeout = 5 * time.Second

	// called is what errors call a server.
	called = "S3 gateway"
	// bucketName is the bucket of gateways that lockcheck started.
	bucketName = "lockcheck"
	// probeKey is written by probes. No lock has this name.
	probeKey = "probe"
)

// ownAccess is what gateways that lockcheck started let in.
var ownAccess = client.Access{Username: "lockcheck", Password: client.NewSecret("lockcheck-secret")}

// node is a gateway and how the harness asks it.
type node struct {
	clusters.Node
	*store
}

// cluster is the running gateways. They keep nothing of each other: what is said to one is in the directory.
type cluster struct {
	nodes  []*node
	layout clusters.Layout
}

var (
	_ clusters.Cluster       = (*cluster)(nil)
	_ clusters.ClientOptions = (*cluster)(nil)
)

// Connect keeps where the gateways are: each question to one is a connection of its own.
func (Backend) Connect(service clusters.Service) (clusters.Cluster, error) {
	c := &cluster{layout: service.Layout}
	for _, at := range service.Nodes {
		s, err := newStore(net.JoinHostPort(at.Addr(), port), ownAccess, service.Layout.Settings[region], bucketName, dialer(service.Dial))
		if err != nil {
			return nil, err
		}
		c.nodes = append(c.nodes, &node{at, s})
		if own, ok := at.(*launched); ok {
			own.bucket = s
		}
	}
	return c, nil
}

// Close has nothing to end: no connection is kept.
func (c *cluster) Close() error { return nil }

// Nodes are the gateways as they were given: one that lockcheck launched can be started again.
func (c *cluster) Nodes() []clusters.Node {
	return clusters.Each(c.nodes, func(n *node) clusters.Node { return n.Node })
}

func (c *cluster) Endpoints() []string {
	return clusters.Each(c.nodes, func(n *node) string { return net.JoinHostPort(n.Addr(), port) })
}

// ClientOptions are what lets clients in, and where the locks are.
func (c *cluster) ClientOptions() map[string]string {
	options := ownAccess.Options()
	options[optionBucket], options[optionRegion] = bucketName, c.layout.Settings[region]
	return options
}

// Versions is one version if all gateways run the same, else all of them by name.
func (c *cluster) Versions(ctx context.Context) (map[string]string, error) {
	version, err := clusters.OneVersion(ctx, called, c.nodes, func(ctx context.Context, n *node) (string, error) { return n.version(ctx) })
	if err != nil {
		return nil, err
	}
	return map[string]string{Name: version}, nil
}

// banner is where a gateway's log has its version. It tells nobody over the network.
var banner = regexp.MustCompile(`Version (\d+\.\d+\.\S+), Build`)

// version is what the log says, or else what the gateway calls itself in answers.
func (n *node) version(ctx context.Context) (string, error) {
	if hosted, ok := n.Node.(clusters.Hosted); ok {
		if logged, ok := hosted.Process().(clusters.Logged); ok {
			text, err := os.ReadFile(logged.LogPath())
			if found := banner.FindSubmatch(text); err == nil && found != nil {
				return string(found[1]), nil
			}
		}
	}
	return n.serverName(ctx)
}

// serverName is the header by which stores name themselves.
func (s *store) serverName(ctx context.Context) (string, error) {
	said, err := s.bounded(ctx, http.MethodHead, "", nil, nil)
	if said.server != "" {
		return said.server, nil
	}
	if err == nil {
		err = errors.New("it does not say what it is")
	}
	return "", err
}

// bounded is do for the harness.
func (s *store) bounded(ctx context.Context, method, key string, body []byte, when condition) (answer, error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	return s.do(ctx, method, key, "", body, when)
}

// Probe makes one plain write, through whichever gateway takes it.
func (c *cluster) Probe(ctx context.Context) error {
	return clusters.WriteToAny(ctx, probeTimeout, probeTry, called, c.nodes, func(ctx context.Context, n *node) error {
		_, err := n.do(ctx, http.MethodPut, probeKey, "", []byte(n.Name()), nil)
		return err
	})
}

// Ready returns once every gateway took a write that was then read through another, and heeded conditions. It makes the bucket if there
// is none.
func (c *cluster) Ready(ctx context.Context) error {
	return clusters.Settled(ctx, called, c.Nodes(), lookEvery, func(unbound context.Context) error {
		ctx, cancel := context.WithTimeout(unbound, probeTimeout)
		defer cancel()
		for i, n := range c.nodes {
			if err := n.makeBucket(ctx); err != nil {
				return fmt.Errorf("making the bucket through %s: %w", n.Name(), err)
			}
			value := fmt.Sprintf("%s %d", n.Name(), time.Now().UnixNano())
			if err := n.tryConditions(ctx, probeKey, value); err != nil {
				return fmt.Errorf("writes to %s: %w", n.Name(), err)
			}
			next := c.nodes[(i+1)%len(c.nodes)]
			said, err := next.bounded(ctx, http.MethodGet, probeKey, nil, nil)
			if err == nil && string(said.body) != value {
				err = fmt.Errorf("%s took %q, and it reads %q", n.Name(), value, said.body)
			}
			if err != nil {
				return fmt.Errorf("a read from %s: %w", next.Name(), err)
			}
		}
		return nil
	}, clusters.LastLook)
}

// What a store answers whose bucket is there.
const (
	bucketIsOurs     = "BucketAlreadyOwnedByYou"
	bucketIsAnothers = "BucketAlreadyExists"
)

// makeBucket makes it unless there is one of this user.
func (s *store) makeBucket(ctx context.Context) error {
	_, err := s.bounded(ctx, http.MethodPut, "", s.location(), nil)
	if codeOf(err) == bucketIsOurs {
		return nil
	}
	return err
}

// location says where a bucket is to be made. The first of all regions may not be named.
func (s *store) location() []byte {
	if s.region == settings[0].Default {
		return nil
	}
	return []byte("<CreateBucketConfiguration><LocationConstraint>" + s.region + "</LocationConstraint></CreateBucketConfiguration>")
}

var errHeedless = errors.New("it writes although a condition does not hold, so that every client would have the lock: use a store with conditional writes")

// tryConditions writes a value, and has the store refuse two writes whose conditions do not hold.
func (s *store) tryConditions(ctx context.Context, key, value string) error {
	if _, err := s.bounded(ctx, http.MethodPut, key, []byte(value), nil); err != nil {
		return err
	}
	for _, when := range []condition{ifAbsent, ifMatch(`"00000000000000000000000000000000"`)} {
		switch _, err := s.bounded(ctx, http.MethodPut, key, []byte("not "+value), when); {
		case err == nil:
			return fmt.Errorf("%s: %w", when[0], errHeedless)
		case codeOf(err) != preconditionFailed:
			return err
		}
	}
	return nil
}
