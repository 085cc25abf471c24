package consul

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"lockcheck/clusters"
)

// Launch starts the servers, all at once: each waits for the others by itself.
func (Backend) Launch(ctx context.Context, site clusters.Site, layout clusters.Layout) ([]clusters.Node, error) {
	servers, err := clusters.StartAll(ctx, site, layout, command)
	return clusters.Each(servers, func(s *clusters.Server) clusters.Node { return &launched{Server: s} }), err
}

// Ready returns once all servers name the same leader and count each other, each took a write that was then read from
// another, each made a session of the TTL asked for, and each is in the catalogue.
func (c *cluster) Ready(ctx context.Context) error {
	begun := time.Now()
	var answers []answer
	return clusters.Settled(ctx, called, c.Nodes(), lookEvery, func(unbound context.Context) error {
		answers = c.statuses(unbound)
		if err := c.complete(answers); err != nil {
			return err
		}
		return c.verify(ctx)
	}, func(missed, over error) error {
		return c.unsettled(answers, time.Since(begun), errors.Join(missed, over))
	})
}

// complete looks whether all servers agree and miss none. The error says what is missing.
func (c *cluster) complete(answers []answer) error {
	first := answers[0].Value
	for _, a := range answers {
		switch {
		case a.Err != nil:
			return fmt.Errorf("%s: %w", a.Node.Name(), a.Err)
		case a.Value.leader == "":
			return fmt.Errorf("%s knows no leader", a.Node.Name())
		case a.Value.leader != first.leader || a.Value.term != first.term:
			return fmt.Errorf("%s and %s follow different leaders", answers[0].Node.Name(), a.Node.Name())
		case a.Value.others != len(answers)-1 || a.Value.failed > 0:
			return fmt.Errorf("%s counts %d other servers, and takes %d members for failed", a.Node.Name(), a.Value.others, a.Value.failed)
		}
	}
	return nil
}

// verifyTimeout is how long one server may take for a write, a read and a session.
const verifyTimeout = 2 * time.Second

// verify writes through every server and reads it from the next one's quorum, and has each make a session: for that, the
// others have to have seen that it is well.
func (c *cluster) verify(ctx context.Context) error {
	for i, n := range c.nodes {
		next := c.nodes[(i+1)%len(c.nodes)]
		if err := c.verifyOne(ctx, n, next); err != nil {
			return err
		}
	}
	return c.registered(ctx)
}

// registered looks whether each server has registered itself in the catalogue, which it does in the seconds after it has found a
// leader. The leader enters it before, but does not know its addresses of all kinds.
func (c *cluster) registered(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, verifyTimeout)
	defer cancel()
	var entries []struct {
		Node            string
		TaggedAddresses map[string]string
	}
	asked := c.nodes[0]
	if err := asked.ask(ctx, http.MethodGet, "/v1/catalog/nodes?consistent", nil, &entries); err != nil {
		return fmt.Errorf("the catalogue of %s: %w", asked.Name(), err)
	}
	own := map[string]bool{}
	for _, e := range entries {
		own[e.Node] = len(e.TaggedAddresses) > 0
	}
	for _, n := range c.nodes {
		if !own[n.Name()] {
			return fmt.Errorf("%s has not registered itself in the catalogue", n.Name())
		}
	}
	return nil
}

func (c *cluster) verifyOne(ctx context.Context, n, next *node) error {
	ctx, cancel := context.WithTimeout(ctx, verifyTimeout)
	defer cancel()
	value := fmt.Sprintf("%s %d", n.Name(), time.Now().UnixNano())
	if err := n.write(ctx, probeKey, value); err != nil {
		return fmt.Errorf("a write to %s: %w", n.Name(), err)
	}
	got, err := next.read(ctx, probeKey)
	if err != nil {
		return fmt.Errorf("a read from %s: %w", next.Name(), err)
	}
	if got != value {
		return fmt.Errorf("%s took the write %q but %s reads %q", n.Name(), value, next.Name(), got)
	}
	if err := n.trySession(ctx, c.layout.EffectiveTTL); err != nil {
		return fmt.Errorf("a session at %s: %w", n.Name(), err)
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
			fmt.Fprintf(&text, "\n  %s: term %d, leader %q, %d other servers, %d failed", a.Node.Name(), a.Value.term, c.nameAt(a.Value.leader), a.Value.others, a.Value.failed)
		}
		text.WriteString(clusters.LastWords(a.Node.Node))
	}
	return fmt.Errorf("%s: %w", text.String(), why)
}
