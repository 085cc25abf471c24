package nats

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"lockcheck/clusters"
)

const (
	attachedTry     = 5 * time.Second // for one question; another machine may be far away
	attachedTimeout = 20 * time.Second
)

var _ clusters.Attachable = Backend{}

// Credentials are users with passwords.
func (Backend) Credentials() clusters.Credentials {
	return clusters.Credentials{Login: clusters.LoginBoth}
}

// Attach keeps where the servers are: each question to one is a connection of its own.
func (Backend) Attach(to clusters.Attachment) (clusters.AttachedCluster, error) {
	options, err := access(to.Access)
	if err != nil {
		return nil, fmt.Errorf("%w: nats: %w", clusters.ErrUsage, err)
	}
	c := &attached{AttachedService: clusters.AttachedServiceOf(to), to: to, options: options, bucket: "lockcheck-" + strings.TrimSuffix(to.Prefix, "/")}
	for _, at := range to.Nodes {
		c.endpoints = append(c.endpoints, &endpoint{at, c})
	}
	return c, nil
}

// attached is servers that others run. Of them, lockcheck knows a bucket of the run's own.
type attached struct {
	clusters.AttachedService
	to        clusters.Attachment
	options   []nats.Option
	bucket    string
	endpoints []*endpoint
}

type endpoint struct {
	*clusters.AttachedNode
	cluster *attached
}

// as asks one server as a client.
func (e *endpoint) as(ctx context.Context, question func(context.Context, session) error) error {
	ctx, cancel := context.WithTimeout(ctx, attachedTry)
	defer cancel()
	return ask(ctx, e.Endpoint(), e.cluster.to.DialNode(e.AttachedNode), e.cluster.options, question)
}

// Place is the bucket.
func (c *attached) Place() string { return "the bucket " + c.bucket }

// ClientOptions name the bucket, too.
func (c *attached) ClientOptions() map[string]string {
	options := c.AttachedService.ClientOptions()
	options[optionBucket] = c.bucket
	return options
}

// Check asks every server for the bucket, which is not there.
func (c *attached) Check(ctx context.Context) error {
	return clusters.AskEvery(ctx, c.endpoints, func(ctx context.Context, e *endpoint) error {
		_, err := e.existing(ctx)
		return err
	}, (*endpoint).unusable)
}

// Existing is the bucket, if it is there.
func (c *attached) Existing(ctx context.Context) (found []string, err error) {
	err = clusters.AskInTurn(ctx, c.endpoints, func(ctx context.Context, e *endpoint) error {
		found, err = e.existing(ctx)
		return err
	}, (*endpoint).unusable)
	return found, err
}

func (e *endpoint) existing(ctx context.Context) (found []string, err error) {
	err = e.as(ctx, func(ctx context.Context, s session) error {
		_, err := s.Stream(ctx, "KV_"+e.cluster.bucket)
		switch {
		case errors.Is(err, jetstream.ErrStreamNotFound):
			return nil
		case err == nil:
			found = []string{e.cluster.Place()}
		}
		return err
	})
	return found, err
}

// What servers answer that cannot keep so many replicas.
const (
	codeNoPeers       jetstream.ErrorCode = 10005
	codeNotReplicated jetstream.ErrorCode = 10074
)

// unusable says why a server cannot be used, and what to do.
func (e *endpoint) unusable(err error) error {
	at := "NATS at " + e.Place()
	switch code := codeOf(err); {
	case errors.Is(err, nats.ErrAuthorization):
		return fmt.Errorf("%w: %s does not let this user in: %w: %s", clusters.ErrUsage, at, err, clusters.PasswordAdvice)
	case errors.Is(err, nats.ErrPermissionViolation):
		return fmt.Errorf("%w: %s: this user may not do that: %w: allow it to publish to $JS.API.>, $JS.FC.> and $KV.>, and to subscribe to _INBOX.>",
			clusters.ErrUsage, at, err)
	case code == codeNoPeers, code == codeNotReplicated:
		return fmt.Errorf("%w: %s has too few servers for %s replicas: %w: use --%s=%s=1", clusters.ErrUsage, at, e.cluster.to.Layout.Settings[replicas], err,
			clusters.FlagSet, replicas)
	case errors.Is(err, jetstream.ErrLimitMarkerTTLNotSupported):
		return fmt.Errorf("%w: %s lets no key expire: %w: use NATS 2.11 or later", clusters.ErrUnavailable, at, err)
	case errors.Is(err, jetstream.ErrJetStreamNotEnabled), errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount), errors.Is(err, nats.ErrNoResponders):
		return fmt.Errorf("%w: %s has no JetStream, or none for this user: %w", clusters.ErrUnavailable, at, err)
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, nats.ErrTimeout):
		return fmt.Errorf("%w: %s: %w: it did not answer in time", clusters.ErrUnavailable, at, err)
	}
	return fmt.Errorf("%w: %s: %w: is it NATS, and %s", clusters.ErrUnavailable, at, err, clusters.TLSAdvice)
}

// Ready makes the bucket, and writes and reads through every server.
func (c *attached) Ready(ctx context.Context) error {
	first := c.endpoints[0]
	err := first.as(ctx, func(ctx context.Context, s session) error {
		_, err := s.CreateKeyValue(ctx, bucketOf(c.bucket, c.to.Layout.Settings))
		return err
	})
	if err != nil {
		return first.unusable(err)
	}
	err = clusters.OneService(ctx, c.endpoints, func(ctx context.Context, e *endpoint, value string) error { return e.write(ctx, value) },
		func(ctx context.Context, e *endpoint) (value string, err error) {
			err = e.as(ctx, func(ctx context.Context, s session) error {
				value, err = s.read(ctx, c.bucket, c.to.ProbeKey())
				return err
			})
			return value, err
		}, (*endpoint).unusable)
	if err != nil {
		return err
	}
	for _, e := range c.endpoints {
		err := e.as(ctx, func(ctx context.Context, s session) error {
			return errors.Join(s.write(ctx, c.bucket, c.to.ProbeKey(), e.Name()), s.tryTTL(ctx, c.bucket, c.to.ProbeKey()+"-"+e.Name(), c.to.Layout.EffectiveTTL))
		})
		if err != nil {
			return e.unusable(err)
		}
	}
	return nil
}

func (e *endpoint) write(ctx context.Context, value string) error {
	return e.as(ctx, func(ctx context.Context, s session) error {
		return s.write(ctx, e.cluster.bucket, e.cluster.to.ProbeKey(), value)
	})
}

// Probe writes one key, through whichever server takes it.
func (c *attached) Probe(ctx context.Context) error {
	return clusters.WriteToAny(ctx, attachedTimeout, attachedTry, called, c.endpoints, func(ctx context.Context, e *endpoint) error { return e.write(ctx, e.Name()) })
}

// Remove deletes the bucket.
func (c *attached) Remove(ctx context.Context) error {
	return clusters.AskInTurn(ctx, c.endpoints, func(ctx context.Context, e *endpoint) error {
		return e.as(ctx, func(ctx context.Context, s session) error {
			err := s.DeleteStream(ctx, "KV_"+c.bucket)
			if errors.Is(err, jetstream.ErrStreamNotFound) {
				return nil
			}
			return err
		})
	}, (*endpoint).unusable)
}

// Versions is what the servers say of themselves.
func (c *attached) Versions(ctx context.Context) (map[string]string, error) {
	version, err := clusters.OneVersion(ctx, called, c.endpoints, func(ctx context.Context, e *endpoint) (version string, err error) {
		err = e.as(ctx, func(_ context.Context, s session) error {
			version = s.conn.ConnectedServerVersion()
			return nil
		})
		return version, err
	})
	return map[string]string{Name: version}, err
}

// Close has nothing to end.
func (c *attached) Close() error { return nil }
