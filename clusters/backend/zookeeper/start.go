package zookeeper

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"lockcheck/clusters"
)

const lookEvery = 20 * time.Millisecond // while servers become an ensemble

// Launch starts the servers' processes, all at once: each waits for the others by itself.
func (Backend) Launch(ctx context.Context, site clusters.Site, layout clusters.Layout) ([]clusters.Node, error) {
	server, err := site.Server(ctx)
	if err != nil {
		return nil, err
	}
	hosts, err := clusters.Hosts(ctx, site, layout.Nodes)
	if err != nil {
		return nil, err
	}
	var members []member
	for i, host := range hosts {
		members = append(members, member{i + 1, host.Addr()})
	}
	return clusters.Together(len(hosts), func(i int) (clusters.Node, error) {
		data, err := hosts[i].DataDir(logName)
		if err != nil {
			return nil, err
		}
		return clusters.StartServer(ctx, hosts[i], command(server, members[i], members, data, layout.Settings))
	})
}

// Ready returns once one server leads and all others follow it in sync, each took a write that was then read from
// another, and a session of the TTL asked for was negotiated.
func (c *cluster) Ready(ctx context.Context) error {
	if _, err := c.settle(ctx); err != nil {
		return err
	}
	return c.verify(ctx)
}

// settle waits until one server leads and all others follow it in sync, and returns the leader's name.
func (c *cluster) settle(ctx context.Context) (string, error) {
	var answers []answer
	var leader *node
	err := clusters.Settled(ctx, called, c.Nodes(), lookEvery, func(unbound context.Context) (err error) {
		answers = c.statuses(unbound)
		leader, err = complete(answers)
		if err == nil && len(answers) > 1 {
			err = c.inSync(ctx, leader)
		}
		return err
	}, func(missed, over error) error {
		return c.unsettled(answers, errors.Join(missed, over))
	})
	if err != nil {
		return "", err
	}
	return leader.Name(), nil
}

// complete finds the one leader that all others follow. The error says what is missing.
func complete(answers []answer) (*node, error) {
	var leader *node
	followers := 0
	for _, a := range answers {
		switch {
		case a.Err != nil:
			return nil, fmt.Errorf("%s: %w", a.Node.Name(), a.Err)
		case a.Value.mode == following:
			followers++
		case leader != nil:
			return nil, fmt.Errorf("%s and %s both lead", leader.Name(), a.Node.Name())
		case a.Value.mode == leading, a.Value.mode == standalone && len(answers) == 1:
			leader = a.Node
		}
	}
	if leader == nil || followers != len(answers)-1 {
		return nil, fmt.Errorf("of %d servers %d follow and none or one leads", len(answers), followers)
	}
	return leader, nil
}

func (c *cluster) inSync(ctx context.Context, leader *node) error {
	n, err := syncedFollowers(ctx, leader.dial, leader.endpoint())
	if err != nil {
		return fmt.Errorf("%s: %w", leader.Name(), err)
	}
	if n != len(c.nodes)-1 {
		return fmt.Errorf("%d of %d followers are in sync with %s", n, len(c.nodes)-1, leader.Name())
	}
	return nil
}

// called is what errors call a server.
const called = "ZooKeeper server"

// unsettled says what each server was doing when time was up.
func (c *cluster) unsettled(answers []answer, why error) error {
	var text strings.Builder
	text.WriteString("they did not become an ensemble in time")
	for _, a := range answers {
		if a.Err != nil {
			fmt.Fprintf(&text, "\n  %s: %v", a.Node.Name(), a.Err)
		} else {
			fmt.Fprintf(&text, "\n  %s: %s, zxid %#x", a.Node.Name(), a.Value.mode, a.Value.zxid)
		}
		text.WriteString(clusters.LastWords(a.Node.Node))
	}
	return fmt.Errorf("%s: %w", text.String(), why)
}
