package s3

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"lockcheck/clusters"
)

const (
	attachedTry     = 5 * time.Second // for one question; another machine may be far away
	attachedTimeout = 20 * time.Second
)

var _ clusters.Attachable = Backend{}

// Credentials are an access key as the username, and its secret as the password.
func (Backend) Credentials() clusters.Credentials {
	return clusters.Credentials{Login: clusters.LoginBoth}
}

// Attach keeps where the gateways are: each question to one is a connection of its own.
func (Backend) Attach(to clusters.Attachment) (clusters.AttachedCluster, error) {
	c := &attached{AttachedService: clusters.AttachedServiceOf(to), to: to, bucket: "lockcheck-" + strings.TrimSuffix(to.Prefix, "/")}
	for _, at := range to.Nodes {
		s, err := newStore(at.Endpoint(), to.Access, to.Layout.Settings[region], c.bucket, dialer(to.DialNode(at)))
		if err != nil {
			return nil, fmt.Errorf("%w: s3: %w", clusters.ErrUsage, err)
		}
		c.endpoints = append(c.endpoints, &endpoint{at, s})
		if s.region == "" { // what cleans up after a run is told no settings
			s.region, s.learns = settings[0].Default, true
		}
	}
	return c, nil
}

// attached is a store that others run. Of it, lockcheck knows a bucket of the run's own.
type attached struct {
	clusters.AttachedService
	to        clusters.Attachment
	bucket    string
	endpoints []*endpoint
}

type endpoint struct {
	*clusters.AttachedNode
	*store
}

// bounded is one request.
func (e *endpoint) bounded(ctx context.Context, method, key, query string, body []byte) (answer, error) {
	ctx, cancel := context.WithTimeout(ctx, attachedTry)
	defer cancel()
	said, err := e.do(ctx, method, key, query, body, nil)
	var wrong *failure
	if e.learns && errors.As(err, &wrong) && wrong.Region != "" {
		e.region, e.learns = wrong.Region, false
		return e.do(ctx, method, key, query, body, nil)
	}
	return said, err
}

// Place is the bucket.
func (c *attached) Place() string { return "the bucket " + c.bucket }

// ClientOptions say where the locks are, too.
func (c *attached) ClientOptions() map[string]string {
	options := c.AttachedService.ClientOptions()
	options[optionBucket], options[optionRegion] = c.bucket, c.to.Layout.Settings[region]
	return options
}

// Check asks every endpoint for the bucket, which is not there.
func (c *attached) Check(ctx context.Context) error {
	return clusters.AskEvery(ctx, c.endpoints, func(ctx context.Context, e *endpoint) error {
		_, err := e.objects(ctx)
		return err
	}, (*endpoint).unusable)
}

// Existing is the bucket, if it is there. One that is another's is there, too: nothing says what this user may not see.
func (c *attached) Existing(ctx context.Context) (found []string, err error) {
	err = clusters.AskInTurn(ctx, c.endpoints, func(ctx context.Context, e *endpoint) error {
		list, err := e.objects(ctx)
		if err == nil && list != nil {
			found = []string{c.Place()}
		}
		return err
	}, (*endpoint).unusable)
	return found, err
}

// listing is an answer with objects of a bucket, at most a thousand.
type listing struct {
	XMLName xml.Name               `xml:"ListBucketResult"`
	Objects []struct{ Key string } `xml:"Contents"`
}

// objects lists the bucket's, nil without a bucket.
func (e *endpoint) objects(ctx context.Context) (*listing, error) {
	said, err := e.bounded(ctx, http.MethodGet, "", "list-type=2", nil)
	if codeOf(err) == noSuchBucket {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	list := &listing{}
	return list, xml.Unmarshal(said.body, list)
}

// unusable says why a store cannot be used, and what to do.
func (e *endpoint) unusable(err error) error {
	at := "S3 at " + e.Place()
	switch code := codeOf(err); {
	case code == "InvalidAccessKeyId", code == "SignatureDoesNotMatch":
		return fmt.Errorf("%w: %s does not let this user in: %w: %s", clusters.ErrUsage, at, err, clusters.PasswordAdvice)
	case code == "AccessDenied", code == bucketIsAnothers:
		return fmt.Errorf("%w: %s: the bucket %s is another's, or this user may not do that: %w: allow it to create, list and delete buckets lockcheck-*, and to get, put and delete "+
			"their objects", clusters.ErrUsage, at, e.bucket, err)
	case code == "AuthorizationHeaderMalformed", code == "IllegalLocationConstraintException":
		return fmt.Errorf("%w: %s: %w: is its region %s? name another with --%s=%s=…", clusters.ErrUsage, at, err, e.region, clusters.FlagSet, region)
	case code == "RequestTimeTooSkewed":
		return fmt.Errorf("%w: %s: %w: set the clock of this machine", clusters.ErrUnavailable, at, err)
	case errors.Is(err, errHeedless):
		return fmt.Errorf("%w: %s: %w", clusters.ErrUnavailable, at, err)
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%w: %s: %w: it did not answer in time", clusters.ErrUnavailable, at, err)
	}
	return fmt.Errorf("%w: %s: %w: is it S3, and %s", clusters.ErrUnavailable, at, err, clusters.TLSAdvice)
}

// Ready makes the bucket, reads through every gateway what it wrote through the first, and has all of them heed conditions.
func (c *attached) Ready(ctx context.Context) error {
	first := c.endpoints[0]
	if err := first.makeBucket(ctx); err != nil {
		return first.unusable(err)
	}
	err := clusters.OneService(ctx, c.endpoints, c.write, func(ctx context.Context, e *endpoint) (string, error) {
		said, err := e.bounded(ctx, http.MethodGet, c.to.ProbeKey(), "", nil)
		if code := codeOf(err); code == noSuchKey || code == noSuchBucket {
			return "", nil
		}
		return string(said.body), err
	}, (*endpoint).unusable)
	if err != nil {
		return err
	}
	for _, e := range c.endpoints {
		if err := e.tryConditions(ctx, c.to.ProbeKey(), e.Name()); err != nil {
			return e.unusable(err)
		}
	}
	return nil
}

func (c *attached) write(ctx context.Context, e *endpoint, value string) error {
	_, err := e.bounded(ctx, http.MethodPut, c.to.ProbeKey(), "", []byte(value))
	return err
}

// Probe writes one object, through whichever gateway takes it.
func (c *attached) Probe(ctx context.Context) error {
	return clusters.WriteToAny(ctx, attachedTimeout, attachedTry, called, c.endpoints, func(ctx context.Context, e *endpoint) error { return c.write(ctx, e, e.Name()) })
}

// Remove deletes the objects, and then the bucket.
func (c *attached) Remove(ctx context.Context) error {
	return clusters.AskInTurn(ctx, c.endpoints, func(ctx context.Context, e *endpoint) error {
		for {
			list, err := e.objects(ctx)
			if err != nil || list == nil {
				return err
			}
			if len(list.Objects) == 0 {
				_, err := e.bounded(ctx, http.MethodDelete, "", "", nil)
				if codeOf(err) == noSuchBucket {
					return nil
				}
				return err
			}
			for _, object := range list.Objects {
				if _, err := e.bounded(ctx, http.MethodDelete, object.Key, "", nil); err != nil {
					return err
				}
			}
		}
	}, (*endpoint).unusable)
}

// Versions is what the store calls itself: S3 has no question for versions.
func (c *attached) Versions(ctx context.Context) (map[string]string, error) {
	name, err := clusters.OneVersion(ctx, called, c.endpoints, func(ctx context.Context, e *endpoint) (string, error) { return e.serverName(ctx) })
	return map[string]string{Name: name}, err
}

// Close has nothing to end.
func (c *attached) Close() error { return nil }
