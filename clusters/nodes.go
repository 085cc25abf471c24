package clusters

import (
	"context"
	"fmt"
	"strings"
)

// NodeNames are the names of a layout's servers.
func NodeNames(n int) []string {
	var names []string
	for i := range n {
		names = append(names, fmt.Sprintf("n%d", i+1))
	}
	return names
}

// Hosts makes the hosts of these names.
func Hosts(ctx context.Context, site Site, names []string) ([]Host, error) {
	var hosts []Host
	for _, name := range names {
		host, err := site.Host(ctx, name)
		if err != nil {
			return nil, err
		}
		hosts = append(hosts, host)
	}
	return hosts, nil
}

// Each lists something of every node, such as where it is reached.
func Each[N, T any](nodes []N, what func(N) T) (all []T) {
	for _, n := range nodes {
		all = append(all, what(n))
	}
	return all
}

// Named is the node of a name, the zero N if there is none.
func Named[N Node](nodes []N, name string) (none N) {
	for _, n := range nodes {
		if n.Name() == name {
			return n
		}
	}
	return none
}

// Whereabouts says which nodes run where.
func Whereabouts[N Node](nodes []N) string {
	var all []string
	for _, n := range nodes {
		all = append(all, n.Name()+" on "+n.Addr())
	}
	return strings.Join(all, ", ")
}
