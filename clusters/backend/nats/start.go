package nats

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"lockcheck/clusters"
)

// Launch starts the servers, all at once: each waits for the others by itself.
func (Backend) Launch(ctx context.Context, site clusters.Site, layout clusters.Layout) ([]clusters.Node, error) {
	servers, err := clusters.StartAll(ctx, site, layout, command)
	return clusters.Each(servers, func(s *clusters.Server) clusters.Node { return &launched{Server: s} }), err
}

// Ready returns once all servers name the same leaders of themselves and of the bucket, each replica of that has all of it, each server
// took a write that was then read through another, and a key with the TTL asked for was made. It makes the bucket if there is none.
func (c *cluster) Ready(ctx context.Context) error {
	begun := time.Now()
	var answers []answer
	return clusters.Settled(ctx, called, c.Nodes(), lookEvery, func(unbound context.Context) error {
		answers = c.statuses(unbound)
		if err := c.complete(answers); err != nil {
			if errors.Is(err, errNoBucket) {
				err = errors.Join(err, c.makeBucket(unbound))
			}
			return err
		}
		return c.verify(unbound)
	}, func(missed, over error) error {
		return c.unsettled(answers, time.Since(begun), errors.Join(missed, over))
	})
}

var errNoBucket = errors.New("there is no bucket yet")

// complete looks whether all servers agree and miss none. The error says what is missing.
func (c *cluster) complete(answers []answer) error {
	first, alone := answers[0].Value, len(answers) == 1
	for _, a := range answers {
		switch {
		case a.Err != nil:
			return fmt.Errorf("%s: %w", a.Node.Name(), a.Err)
		case !alone && a.Value.meta.Leader == "":
			return fmt.Errorf("%s knows no leader of the servers", a.Node.Name())
		case a.Value.meta.Leader != first.meta.Leader:
			return fmt.Errorf("%s and %s follow different leaders", answers[0].Node.Name(), a.Node.Name())
		}
	}
	leader := ""
	for _, a := range answers {
		switch stream := a.Value.stream; {
		case stream == nil: // with fewer replicas than servers, not all know it
		case leader != "" && leader != stream.Leader:
			return fmt.Errorf("%s and others name different leaders of the bucket", a.Node.Name())
		default:
			leader = stream.Leader
		}
	}
	if alone && first.stream != nil {
		return nil
	}
	at := clusters.Named(c.nodes, leader)
	if at == nil {
		return errNoBucket
	}
	for _, a := range answers {
		if a.Node != at || a.Value.stream == nil {
			continue
		}
		for _, r := range a.Value.stream.Replicas {
			if !r.Current || r.Offline {
				return fmt.Errorf("%s has not all of the bucket yet, says its leader %s", r.Name, leader)
			}
		}
	}
	return nil
}

// verifyTimeout is how long one server may take for a write, a read and a key.
const verifyTimeout = 2 * time.Second

func (c *cluster) makeBucket(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, verifyTimeout)
	defer cancel()
	return c.nodes[0].as(ctx, func(ctx context.Context, s session) error {
		_, err := s.CreateKeyValue(ctx, bucketOf(bucketName, c.layout.Settings))
		return err
	})
}

// verify writes through every server, reads it through the next one, and makes a key as lock clients do.
func (c *cluster) verify(ctx context.Context) error {
	for i, n := range c.nodes {
		next := c.nodes[(i+1)%len(c.nodes)]
		if err := c.verifyOne(ctx, n, next); err != nil {
			return err
		}
	}
	return nil
}

func (c *cluster) verifyOne(ctx context.Context, n, next *node) error {
	ctx, cancel := context.WithTimeout(ctx, verifyTimeout)
	defer cancel()
	value := fmt.Sprintf("%s %d", n.Name(), time.Now().UnixNano())
	err := n.as(ctx, func(ctx context.Context, s session) error {
		return errors.Join(s.write(ctx, bucketName, probeKey, value), s.tryTTL(ctx, bucketName, probeKey+"-"+n.Name(), c.layout.EffectiveTTL))
	})
	if err != nil {
		return fmt.Errorf("a write to %s: %w", n.Name(), err)
	}
	var got string
	err = next.as(ctx, func(ctx context.Context, s session) (err error) {
		got, err = s.read(ctx, bucketName, probeKey)
		return err
	})
	if err == nil && got != value {
		err = fmt.Errorf("%s took the write %q, and it reads %q", n.Name(), value, got)
	}
	if err != nil {
		return fmt.Errorf("a read from %s: %w", next.Name(), err)
	}
	return nil
}

// unsettled says what each server was doing when time was up.
func (c *cluster) unsettled(answers []answer, after time.Duration, why error) error {
	var text strings.Builder
	fmt.Fprintf(&text, "they were not ready within %.1f s", after.Seconds())
	for _, a := range answers {
		if a.Err != nil {
			fmt.Fprintf(&text, "\n  %s does not answer: %v", a.Node.Name(), a.Err)
		} else {
			fmt.Fprintf(&text, "\n  %s: leader %q; of the bucket: %+v, term %d", a.Node.Name(), a.Value.meta.Leader, a.Value.stream, a.Value.term)
		}
		text.WriteString(clusters.LastWords(a.Node.Node))
	}
	return fmt.Errorf("%s: %w", text.String(), why)
}
