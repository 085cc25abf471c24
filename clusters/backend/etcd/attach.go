package etcd

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"lockcheck/clusters"
)

const (
	attachedTry     = 5 * time.Second // for one question; another machine may be far away, and checking a password takes long
	attachedTimeout = 20 * time.Second
	maxExisting     = 10 // keys that are named
)

var _ clusters.Attachable = Backend{}

// Credentials are users with passwords.
func (Backend) Credentials() clusters.Credentials {
	return clusters.Credentials{Login: clusters.LoginBoth}
}

// Attach prepares a connection to each endpoint.
func (Backend) Attach(to clusters.Attachment) (clusters.AttachedCluster, error) {
	config, err := to.Access.Config()
	if err != nil {
		return nil, fmt.Errorf("%w: etcd: %w", clusters.ErrUsage, err)
	}
	c := &attached{AttachedService: clusters.AttachedServiceOf(to), to: to}
	for _, node := range to.Nodes {
		e, err := c.connect(node, config)
		if err != nil {
			return nil, errors.Join(err, c.Close())
		}
		c.endpoints = append(c.endpoints, e)
	}
	return c, nil
}

// attached is a service of etcd that others run. Of it, lockcheck knows the keys below one prefix.
type attached struct {
	clusters.AttachedService
	to        clusters.Attachment
	endpoints []*endpoint
}

// endpoint is one member, or what stands before several, and the harness's connection to it.
type endpoint struct {
	*clusters.AttachedNode
	cluster *attached
	conn    *grpc.ClientConn

	mu    sync.Mutex
	token string // of the user, once the member gave one
}

func (c *attached) connect(node *clusters.AttachedNode, config *tls.Config) (*endpoint, error) {
	secure := insecure.NewCredentials()
	if config != nil {
		config = config.Clone()
		if config.ServerName == "" {
			config.ServerName = node.Host() // as for the clients
		}
		secure = credentials.NewTLS(config)
	}
	dial := c.to.DialNode(node)
	conn, err := grpc.NewClient("passthrough:///"+node.Endpoint(),
		grpc.WithTransportCredentials(secure), grpc.WithNoProxy(),
		grpc.WithContextDialer(func(ctx context.Context, addr string) (net.Conn, error) { return dial(ctx, "tcp", addr) }))
	if err != nil {
		return nil, fmt.Errorf("connecting to etcd at %s: %w", node.Place(), err)
	}
	return &endpoint{AttachedNode: node, cluster: c, conn: conn}, nil
}

// do asks the member, as the user. A token that is no longer valid is asked for anew.
func (e *endpoint) do(ctx context.Context, ask func(context.Context, *grpc.ClientConn) error) error {
	for again := 1; ; again-- {
		signed, err := e.sign(ctx)
		if err == nil {
			err = ask(signed, e.conn)
		}
		if again == 0 || !errors.Is(rpctypes.Error(err), rpctypes.ErrInvalidAuthToken) {
			return err
		}
		e.mu.Lock()
		e.token = ""
		e.mu.Unlock()
	}
}

// sign is ctx with the user's token.
func (e *endpoint) sign(ctx context.Context) (context.Context, error) {
	access := e.cluster.to.Access
	if access.Username == "" {
		return ctx, nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.token == "" {
		given, err := pb.NewAuthClient(e.conn).Authenticate(ctx, &pb.AuthenticateRequest{Name: access.Username, Password: access.Password.Reveal()})
		switch {
		case errors.Is(rpctypes.Error(err), rpctypes.ErrAuthNotEnabled): // every user may do everything
			return ctx, nil
		case err != nil:
			return nil, err
		}
		e.token = given.Token
	}
	return metadata.AppendToOutgoingContext(ctx, rpctypes.TokenFieldNameGRPC, e.token), nil
}

// Place is the prefix of all of the run's keys.
func (c *attached) Place() string { return "keys below " + c.prefix() }

func (c *attached) prefix() string { return prefix(c.to.Prefix) }

// below is the range of the run's keys.
func (c *attached) below() (key, end []byte) {
	return []byte(c.prefix()), []byte(clientv3.GetPrefixRangeEnd(c.prefix()))
}

// Check asks every endpoint for the keys of the run, of which there are none.
func (c *attached) Check(ctx context.Context) error {
	return clusters.AskEvery(ctx, c.endpoints, func(ctx context.Context, e *endpoint) error {
		_, err := e.existing(ctx)
		return err
	}, (*endpoint).unusable)
}

// unusable says why an endpoint cannot be used, and what to do.
func (e *endpoint) unusable(err error) error {
	known := rpctypes.Error(err)
	advice := "is it etcd, and " + clusters.TLSAdvice
	switch {
	case errors.Is(known, rpctypes.ErrAuthFailed), errors.Is(known, rpctypes.ErrUserEmpty), errors.Is(known, rpctypes.ErrInvalidAuthToken):
		return fmt.Errorf("%w: etcd at %s does not let this user in: %w: %s", clusters.ErrUsage, e.Place(), err, clusters.PasswordAdvice)
	case errors.Is(known, rpctypes.ErrPermissionDenied):
		return fmt.Errorf("%w: etcd at %s: this user may not use keys below %s: %w: grant it read and write of the prefix %s",
			clusters.ErrUsage, e.Place(), e.cluster.prefix(), err, prefix(""))
	case errors.Is(err, context.DeadlineExceeded), status.Code(err) == codes.DeadlineExceeded:
		advice = "it did not answer in time"
	}
	return fmt.Errorf("%w: etcd at %s: %w: %s", clusters.ErrUnavailable, e.Place(), err, advice)
}

// Existing lists some of the run's keys.
func (c *attached) Existing(ctx context.Context) ([]string, error) {
	return c.endpoints[0].existing(ctx)
}

func (e *endpoint) existing(ctx context.Context) (found []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, attachedTry)
	defer cancel()
	key, end := e.cluster.below()
	err = e.do(ctx, func(ctx context.Context, conn *grpc.ClientConn) error {
		got, err := pb.NewKVClient(conn).Range(ctx, &pb.RangeRequest{Key: key, RangeEnd: end, KeysOnly: true, Limit: maxExisting})
		for _, kv := range got.GetKvs() {
			found = append(found, string(kv.Key))
		}
		return err
	})
	return found, err
}

// Ready writes through every endpoint and looks at the lease that is granted: the faults are scaled by it.
func (c *attached) Ready(ctx context.Context) error {
	err := clusters.OneService(ctx, c.endpoints, func(ctx context.Context, e *endpoint, value string) error { return e.write(ctx, value) },
		func(ctx context.Context, e *endpoint) (string, error) { return e.read(ctx) }, (*endpoint).unusable)
	if err != nil {
		return err
	}
	err = clusters.AskEvery(ctx, c.endpoints, func(ctx context.Context, e *endpoint) error { return e.write(ctx, e.Name()) }, (*endpoint).unusable)
	if err != nil {
		return err
	}
	return c.leases(ctx)
}

func (c *attached) leases(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, attachedTry)
	defer cancel()
	e, ttl := c.endpoints[0], c.to.Layout.EffectiveTTL
	var granted time.Duration
	err := e.do(ctx, func(ctx context.Context, conn *grpc.ClientConn) error {
		lease, err := pb.NewLeaseClient(conn).LeaseGrant(ctx, &pb.LeaseGrantRequest{TTL: int64(ttl / time.Second)})
		if err != nil {
			return err
		}
		granted = time.Duration(lease.TTL) * time.Second
		_, err = pb.NewLeaseClient(conn).LeaseRevoke(ctx, &pb.LeaseRevokeRequest{ID: lease.ID})
		return err
	})
	switch {
	case err != nil:
		return e.unusable(fmt.Errorf("a lease of %v: %w", ttl, err))
	case granted != ttl:
		return fmt.Errorf("%w: etcd at %s grants a lease of %v where one of %v is asked for: ask for %v", clusters.ErrUsage, e.Place(), granted, ttl, granted)
	}
	return nil
}

// read reads what was written last, "" if nothing is there.
func (e *endpoint) read(ctx context.Context) (value string, err error) {
	ctx, cancel := context.WithTimeout(ctx, attachedTry)
	defer cancel()
	err = e.do(ctx, func(ctx context.Context, conn *grpc.ClientConn) error {
		got, err := pb.NewKVClient(conn).Range(ctx, &pb.RangeRequest{Key: []byte(prefix(e.cluster.to.ProbeKey()))})
		for _, kv := range got.GetKvs() {
			value = string(kv.Value)
		}
		return err
	})
	return value, err
}

func (e *endpoint) write(ctx context.Context, value string) error {
	ctx, cancel := context.WithTimeout(ctx, attachedTry)
	defer cancel()
	return e.do(ctx, func(ctx context.Context, conn *grpc.ClientConn) error {
		_, err := pb.NewKVClient(conn).Put(ctx, &pb.PutRequest{Key: []byte(prefix(e.cluster.to.ProbeKey())), Value: []byte(value)})
		return err
	})
}

// Probe puts one key, through whichever endpoint takes it.
func (c *attached) Probe(ctx context.Context) error {
	return clusters.WriteToAny(ctx, attachedTimeout, attachedTry, "etcd endpoint", c.endpoints, func(ctx context.Context, e *endpoint) error { return e.write(ctx, e.Name()) })
}

// Remove deletes the run's keys.
func (c *attached) Remove(ctx context.Context) error {
	key, end := c.below()
	return clusters.WriteToAny(ctx, attachedTimeout, attachedTry, "etcd endpoint", c.endpoints, func(ctx context.Context, e *endpoint) error {
		return e.do(ctx, func(ctx context.Context, conn *grpc.ClientConn) error {
			_, err := pb.NewKVClient(conn).DeleteRange(ctx, &pb.DeleteRangeRequest{Key: key, RangeEnd: end})
			return err
		})
	})
}

// Versions is what the members say of themselves.
func (c *attached) Versions(ctx context.Context) (map[string]string, error) {
	version, err := clusters.OneVersion(ctx, "etcd endpoint", c.endpoints, func(ctx context.Context, e *endpoint) (version string, err error) {
		ctx, cancel := context.WithTimeout(ctx, attachedTry)
		defer cancel()
		err = e.do(ctx, func(ctx context.Context, conn *grpc.ClientConn) error {
			said, err := pb.NewMaintenanceClient(conn).Status(ctx, &pb.StatusRequest{})
			version = said.GetVersion()
			return err
		})
		return version, err
	})
	return map[string]string{Name: version}, err
}

// Close ends the connections.
func (c *attached) Close() error {
	var errs []error
	for _, e := range c.endpoints {
		errs = append(errs, e.conn.Close())
	}
	return errors.Join(errs...)
}
