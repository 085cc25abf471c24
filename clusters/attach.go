package clusters

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"time"

	"lockcheck/clusters/client"
)

// Attachable is a backend whose service others may run: lockcheck only connects, and keeps to keys of the run's own.
type Attachable interface {
	Backend
	// Credentials say what of an Access its servers understand.
	Credentials() Credentials
	// Attach prepares the harness's own connections. It asks nothing yet.
	Attach(to Attachment) (AttachedCluster, error)
}

// AttachLayouter is an Attachable whose layout is not LayoutOfOthers.
type AttachLayouter interface {
	AttachLayout(endpoints int, opts Options) (Layout, error)
}

// AttachLayout is Layout for a service with so many endpoints. Its settings are what the servers are expected to be told.
func AttachLayout(of Backend, endpoints int, opts Options) (Layout, error) {
	if own, ok := of.(AttachLayouter); ok {
		return own.AttachLayout(endpoints, opts)
	}
	return LayoutOfOthers(of, endpoints, opts)
}

// LayoutOfOthers is the layout of so many endpoints whose settings others chose: what is asked for is what they are expected to have.
func LayoutOfOthers(of Backend, endpoints int, opts Options) (Layout, error) {
	opts.Nodes = 0
	layout, err := of.Layout(opts)
	layout.Nodes, layout.Fronts = NodeNames(endpoints), nil
	return layout, err
}

// Attachment is a service that others run, and what a run may touch of it.
type Attachment struct {
	Nodes  []*AttachedNode
	Dial   Dialer // to a node's Outside, from outside of the run's network
	Layout Layout
	Access client.Access
	// ClientAccess is Access as lock clients find its files.
	ClientAccess client.Access
	Prefix       string   // of the names of all locks of the run: "20261123t120000z-7-5f3a/"
	Keys         []string // the names of its locks, Prefix included
}

// ProbeKey is a name below the prefix, for plain writes: no lock has it.
func (a Attachment) ProbeKey() string { return a.Prefix + "probe" }

// ClientOptions are for the lock clients of the run.
func (a Attachment) ClientOptions() map[string]string {
	options := a.ClientAccess.Options()
	options[client.OptionAttached] = "yes"
	return options
}

// AttachedCluster is a Cluster of servers that others run. Nothing is read, written or watched but what Place says. Ready writes.
type AttachedCluster interface {
	Cluster
	// Place says in words where on the service the run's keys are: "keys below /lockcheck/…/"; "" if only its clients know.
	Place() string
	// Check returns once every endpoint has answered, as the service that it should be, a question by this user about what Existing
	// lists. It writes nothing. The error wraps ErrUnavailable or ErrUsage.
	Check(ctx context.Context) error
	// Existing lists some of what is there of the run's own.
	Existing(ctx context.Context) ([]string, error)
	// Remove removes all that the run made, and nothing else. No client of the run may be there any more.
	Remove(ctx context.Context) error
}

// Outward is a site from which places outside of the run's network can be reached: those that the provider was told of, in
// that order, and no others. Hosts still have no way out but by a relay.
type Outward interface {
	// Outside is where the i-th of them is. Names are resolved once, as this machine does. The error wraps ErrUnavailable.
	Outside(ctx context.Context, i int) (netip.AddrPort, error)
	// DialOutside connects to the i-th of them, past all faults.
	DialOutside(ctx context.Context, i int) (net.Conn, error)
	// Relay makes a host that passes connections on. It has the address that these places have outside (one for all of them), or, for
	// one of loopback or a spec that is Hidden, an address of the run's network, and listens there at the ports that they have outside.
	// Where a host cannot own an address from outside, that of the run's network is its Addr, and the other leads there.
	Relay(ctx context.Context, spec RelaySpec) (Host, error)
}

// RelaySpec says what a relay passes on.
type RelaySpec struct {
	Name   string   // of its host
	Places []int    // of those of Outward
	Names  []string // that hosts of the run resolve to its address
	Hidden bool     // whether hosts of the run find it by its own address only
	Max    int      // connections at the same time to each place; more are closed at once
	// Refused is called, from any goroutine, with what was not passed on and why.
	Refused func(error)
}

// AttachedNode is one endpoint of a service that others run.
type AttachedNode struct {
	NodeName string
	Asked    string         // as the user wrote it: "etcd-1.example:2379"
	Outside  netip.AddrPort // as this machine resolved that
	Carrier  Host           // the host of the run that has its address; nil where hosts have no networks of their own
}

var _ Node = (*AttachedNode)(nil)

// Name is "n1" for the first.
func (n *AttachedNode) Name() string { return n.NodeName }

// Addr is where clients find it.
func (n *AttachedNode) Addr() string {
	if n.Carrier != nil {
		return n.Carrier.Addr()
	}
	return n.Outside.Addr().String()
}

// Host is what it is called in the names of TLS: as the user wrote it, but for an address or name of loopback, which is
// another machine's to each host of the run.
func (n *AttachedNode) Host() string {
	host, _, err := net.SplitHostPort(n.Asked)
	if err != nil || n.Carrier != nil && n.Outside.Addr().IsLoopback() {
		return n.Addr()
	}
	return host
}

// Endpoint is what clients connect to.
func (n *AttachedNode) Endpoint() string {
	_, port, _ := net.SplitHostPort(n.Outside.String())
	return net.JoinHostPort(n.Host(), port)
}

// Place is how errors name it.
func (n *AttachedNode) Place() string {
	if n.Asked == n.Outside.String() {
		return n.Asked
	}
	return n.Asked + " (" + n.Outside.String() + ")"
}

// AttachedService is what a cluster that is attached to is by its attachment alone: its nodes, their endpoints, what lets clients in.
type AttachedService struct{ to Attachment }

// AttachedServiceOf is the service of an attachment.
func AttachedServiceOf(to Attachment) AttachedService { return AttachedService{to} }

// Nodes are those that the user named.
func (s AttachedService) Nodes() []Node {
	return Each(s.to.Nodes, func(n *AttachedNode) Node { return n })
}

// Endpoints are where clients find them.
func (s AttachedService) Endpoints() []string { return Each(s.to.Nodes, (*AttachedNode).Endpoint) }

// ClientOptions are what lets clients in.
func (s AttachedService) ClientOptions() map[string]string { return s.to.ClientOptions() }

// DialNode is a dialer that connects to one node whatever it is asked for.
func (a Attachment) DialNode(n *AttachedNode) Dialer {
	return func(ctx context.Context, network, _ string) (net.Conn, error) {
		return a.Dial(ctx, network, n.Outside.String())
	}
}

// AttachedNodes are those of a cluster's nodes that others run.
func AttachedNodes(of Cluster) (all []*AttachedNode) {
	for _, n := range of.Nodes() {
		if attached, ok := n.(*AttachedNode); ok {
			all = append(all, attached)
		}
	}
	return all
}

// removeEvery is how long what a client had sent may take to arrive after its end, before it is looked again.
const removeEvery = 200 * time.Millisecond

// Removed removes all that a run made, and returns once none of it is there any more.
func Removed(ctx context.Context, of AttachedCluster) error {
	for {
		if err := of.Remove(ctx); err != nil {
			return err
		}
		// What a client that was killed had sent may arrive later.
		select {
		case <-time.After(removeEvery):
		case <-ctx.Done():
		}
		found, err := of.Existing(ctx)
		switch {
		case err != nil:
			return err
		case len(found) == 0:
			return nil
		case ctx.Err() != nil:
			return fmt.Errorf("%s are still there: %w", strings.Join(found, ", "), ctx.Err())
		}
	}
}
