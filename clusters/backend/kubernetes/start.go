package kubernetes

import (
	"context"
	"fmt"
	"net"

	"lockcheck/clusters"
	"lockcheck/clusters/backend/etcd/server"
)

// Launch starts etcd's members, which are lockcheck's own binary, and then the API servers, each once the one before is
// furnished. They wait for the members by themselves.
func (Backend) Launch(ctx context.Context, site clusters.Site, layout clusters.Layout) ([]clusters.Node, error) {
	found, err := site.Server(ctx)
	if err != nil {
		return nil, err
	}
	keys, err := makeKeys()
	if err != nil {
		return nil, err
	}
	hosts, err := clusters.Hosts(ctx, site, append(layout.Nodes[:len(layout.Nodes):len(layout.Nodes)], layout.Fronts...))
	if err != nil {
		return nil, err
	}
	keeping, serving := hosts[:len(layout.Nodes)], hosts[len(layout.Nodes):]
	member := clusters.Command{Args: []string{"node", Name}}
	nodes, err := server.LaunchOn(ctx, site.Dial, keeping, member, layout.Settings)
	if err != nil {
		return nil, err
	}
	var members []string
	for _, n := range nodes {
		members = append(members, net.JoinHostPort(n.Addr(), server.ClientPort))
	}
	for _, host := range serving {
		command, err := apiServer{host, members, layout.Settings, keys}.command(found)
		if err != nil {
			return nodes, err
		}
		front, err := clusters.StartServer(ctx, host, command)
		if err != nil {
			return nodes, err
		}
		nodes = append(nodes, front)
		if err := furnished(ctx, front, site.Dial); err != nil {
			return nodes, err
		}
	}
	return nodes, nil
}

// furnished returns once an API server serves the Service that every cluster has. The first makes it and its address when it is ready. Another
// whose first look at all addresses sees half of that never looks again, and ends after a minute (RepairIPAddress.RunUntil, 1.34).
func furnished(ctx context.Context, started clusters.Node, dial clusters.Dialer) error {
	asked := newFront(started, dial)
	defer asked.close()
	look := func(ctx context.Context) error {
		err := asked.ownService(ctx)
		if err != nil {
			err = fmt.Errorf("%s %s does not serve the Service that every cluster has: %w%s", called, started.Name(), err, clusters.LastWords(started))
		}
		return err
	}
	return clusters.Settled(ctx, called, []clusters.Node{started}, lookEvery, look, clusters.LastLook)
}
