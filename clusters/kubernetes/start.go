package kubernetes

import (
	"context"
	"net"

	"lockcheck/clusters"
	"lockcheck/clusters/etcd/server"
)

// Launch starts etcd's members, which are lockcheck's own binary, and then the API servers. These wait for the members by themselves.
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
	fronts, err := clusters.Together(len(serving), func(i int) (clusters.Node, error) {
		command, err := apiServer{serving[i], members, layout.Settings, keys}.command(found)
		if err != nil {
			return nil, err
		}
		return clusters.StartServer(ctx, serving[i], command)
	})
	return append(nodes, fronts...), err
}
