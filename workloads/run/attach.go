package run

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"lockcheck/checker/history"
	"lockcheck/clusters"
	"lockcheck/clusters/client"
)

// Attach is a service that others run, as a run is to use it.
type Attach struct {
	Endpoints    []string // host:port
	Access       client.Access
	Prefix       string   // of the names of all locks
	MaxRate      int      // acquires a second
	CleanCommand []string // removes what the run left there
}

// secretOf is what lets clients in to a service that others run; "" where there is none.
func secretOf(a *Attach) string {
	if a == nil {
		return ""
	}
	return a.Access.Password.Reveal()
}

// Files are those that connecting needs.
func (a *Attach) Files() (paths []string) {
	for _, path := range []string{a.Access.CA, a.Access.Cert, a.Access.Key} {
		if path != "" {
			paths = append(paths, path)
		}
	}
	return paths
}

// connectionsOfAClient is how many connections to one endpoint a client may have at the same time. Libraries keep one or a few, and
// one that was cut off by a partition is noticed late.
const connectionsOfAClient = 8

// attachTimeout bounds how long connecting to the service may take, and removing what was made there.
const attachTimeout = 20 * time.Second

// attach connects to the service that others run. Nothing is written there before it is clear that nothing of the run's is there, and
// before the user was told what will be.
func (r *Run) attach(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, attachTimeout)
	defer cancel()
	if err := hideable(secretOf(r.setup.Attach), r.usersClient()); err != nil {
		return err
	}
	site, err := r.outward("--" + clusters.FlagAttach)
	if err != nil {
		return err
	}
	nodes, err := r.findNodes(ctx, site)
	if err != nil {
		return err
	}
	if isolated, _ := r.site.Isolated(); isolated {
		if err := r.relayTo(ctx, site, nodes); err != nil {
			return err
		}
	}
	access := namedAs(nodes, r.setup.Attach.Access)
	clientAccess := access
	if !r.site.SharesFiles() {
		if clientAccess, r.command.Files, err = carriedAccess(access, r.command.InClientImage); err != nil {
			return err
		}
	}
	service, err := r.setup.Backend.(clusters.Attachable).Attach(clusters.Attachment{
		Nodes: nodes, Dial: dialNodes(site, nodes), Layout: r.setup.Layout, Access: access, ClientAccess: clientAccess,
		Prefix: r.setup.Attach.Prefix, Keys: r.keys(),
	})
	if err != nil {
		return err
	}
	r.cluster = service
	if err := service.Check(ctx); err != nil {
		return err
	}
	if err := nothingThere(ctx, service); err != nil {
		return err
	}
	r.noteAttached(service)
	if err := r.out.Remember(*r.observed.Attached, r.keys()); err != nil {
		return err
	}
	r.out.Notice(r.hidden.text(r.intent(service)))
	r.attached = service
	return service.Ready(ctx)
}

// findNodes resolves every endpoint and connects to it once.
func (r *Run) findNodes(ctx context.Context, site clusters.Outward) ([]*clusters.AttachedNode, error) {
	names := clusters.NodeNames(len(r.setup.Attach.Endpoints))
	nodes, err := clusters.Together(len(names), func(i int) (*clusters.AttachedNode, error) {
		node := &clusters.AttachedNode{NodeName: names[i], Asked: r.setup.Attach.Endpoints[i]}
		var err error
		if node.Outside, err = site.Outside(ctx, i); err != nil {
			return nil, fmt.Errorf("--%s: %s cannot be found: %w", clusters.FlagAttach, node.Asked, err)
		}
		conn, err := site.DialOutside(ctx, i)
		if err != nil {
			return nil, fmt.Errorf("%w: --%s: %s cannot be connected to from this machine: %w: is the service running there, and let through by firewalls?",
				clusters.ErrUnavailable, clusters.FlagAttach, node.Place(), err)
		}
		return node, conn.Close()
	})
	if err != nil {
		return nil, err
	}
	for i, node := range nodes {
		if j := slices.IndexFunc(nodes, func(n *clusters.AttachedNode) bool { return n.Outside == node.Outside }); j < i {
			return nil, fmt.Errorf("%w: --%s: %s and %s are one place, %s: name it once", clusters.ErrUsage, clusters.FlagAttach, nodes[j].Asked, node.Asked, node.Outside)
		}
	}
	return nodes, nil
}

// relayTo makes the hosts that have the nodes' addresses inside: one for each address.
func (r *Run) relayTo(ctx context.Context, site clusters.Outward, nodes []*clusters.AttachedNode) error {
	for i, node := range nodes {
		if node.Carrier != nil {
			continue
		}
		spec := clusters.RelaySpec{
			Name: node.NodeName, Max: connectionsOfAClient * r.plan.Clients,
			Refused: r.tellOnce(node.NodeName),
		}
		var same []*clusters.AttachedNode
		for j, other := range nodes {
			if j == i || !other.Outside.Addr().IsLoopback() && other.Outside.Addr() == node.Outside.Addr() {
				same, spec.Places = append(same, other), append(spec.Places, j)
				if host, _, _ := net.SplitHostPort(other.Asked); isName(host) && !other.Outside.Addr().IsLoopback() && !slices.Contains(spec.Names, host) {
					spec.Names = append(spec.Names, host)
				}
			}
		}
		carrier, err := site.Relay(ctx, spec)
		if err != nil {
			return err
		}
		for _, n := range same {
			n.Carrier = carrier
		}
	}
	return nil
}

// namedAs lets certificates of a server on loopback hold: hosts of the run find it at another address than that which its certificate
// names.
func namedAs(nodes []*clusters.AttachedNode, access client.Access) client.Access {
	if !access.TLS || access.ServerName != "" {
		return access
	}
	name, _, _ := net.SplitHostPort(nodes[0].Asked)
	for _, node := range nodes {
		if host, _, _ := net.SplitHostPort(node.Asked); host != name || !node.Outside.Addr().IsLoopback() {
			return access
		}
	}
	access.ServerName = name
	return access
}

// accessDir is where clients that do not see this machine's files have those of an Access.
const accessDir = "/lockcheck-access/"

// carriedAccess is an access for clients that do not see this machine's files, and the files that they are to be given. An image of the
// user's may know whom it trusts; that of lockcheck's own clients has no certificates, and each of their connections would fail.
func carriedAccess(access client.Access, ownImage bool) (client.Access, map[string][]byte, error) {
	if access.TLS && access.CA == "" && !ownImage {
		return access, nil, fmt.Errorf("%w: --%s has no ca, and containers do not have the certificates that this machine trusts: name it as ca, "+
			"the PEM file of who signed the service's certificate", clusters.ErrUsage, clusters.FlagAttachConfig)
	}
	files := map[string][]byte{}
	for name, path := range map[string]*string{"ca.pem": &access.CA, "cert.pem": &access.Cert, "key.pem": &access.Key} {
		if *path == "" {
			continue
		}
		content, err := os.ReadFile(*path)
		if err != nil {
			return access, nil, fmt.Errorf("%w: --%s: %w", clusters.ErrUsage, clusters.FlagAttachConfig, err)
		}
		*path = accessDir + name
		files[*path] = content
	}
	return access, files, nil
}

// tellOnce tells of connections that were not passed on, each reason once.
func (r *Run) tellOnce(node string) func(error) {
	var told sync.Map
	return func(err error) {
		if _, known := told.LoadOrStore(err.Error(), true); !known {
			r.progress("%s: a connection was not passed on, and others may be as this: %v", node, err)
		}
	}
}

// isName reports whether a host is not written as an address.
func isName(host string) bool { return net.ParseIP(host) == nil }

// dialNodes connects to nodes by where they are outside.
func dialNodes(site clusters.Outward, nodes []*clusters.AttachedNode) clusters.Dialer {
	return func(ctx context.Context, _, addr string) (net.Conn, error) {
		i := slices.IndexFunc(nodes, func(n *clusters.AttachedNode) bool { return n.Outside.String() == addr })
		if i < 0 {
			return nil, fmt.Errorf("%s is no endpoint that was named with --%s", addr, clusters.FlagAttach)
		}
		return site.DialOutside(ctx, i)
	}
}

// nothingThere refuses to begin where something of the run's names is there already.
func nothingThere(ctx context.Context, service clusters.AttachedCluster) error {
	found, err := service.Existing(ctx)
	if err != nil {
		return fmt.Errorf("looking for %s: %w", service.Place(), err)
	}
	if len(found) > 0 {
		return fmt.Errorf("%w: there are %s already, and a run uses none that it did not make: %s", clusters.ErrUnavailable, service.Place(), strings.Join(found, ", "))
	}
	return nil
}

// noteAttached notes where the service was found.
func (r *Run) noteAttached(service clusters.AttachedCluster) {
	noted := *r.plan.Attached
	noted.Place, noted.Endpoints = service.Place(), nil
	for _, n := range clusters.AttachedNodes(service) {
		noted.Endpoints = append(noted.Endpoints, history.AttachedEndpoint{Node: n.NodeName, Asked: n.Asked, Address: n.Outside.String()})
	}
	r.observed.Attached = &noted
}

// NoticeOfAttach begins the line that says what a run will do to a service that others run.
const NoticeOfAttach = "attached to "

// intent says what the run will do to a service that others run, before it does.
func (r *Run) intent(service clusters.AttachedCluster) string {
	places := clusters.Each(clusters.AttachedNodes(service), (*clusters.AttachedNode).Place)
	return fmt.Sprintf(NoticeOfAttach+"%s at %s: %d clients will take and release %s there, with at most %d acquires a second together (one that polls asks more often); %s",
		r.plan.Backend, strings.Join(places, ", "), r.plan.Clients, history.Counted(r.plan.Keys, "lock", "locks"), r.plan.Attached.MaxRate,
		r.writes(service.Place()))
}

// writes says what is written and removed. What a client of the user's makes of the locks' names only its author knows.
func (r *Run) writes(place string) string {
	told := "they are told names that begin with " + r.plan.Attached.Prefix + ", and what your client makes of them is up to it"
	switch {
	case !r.usersClient():
		return "they write " + place + ", and nothing else there is written, or read but the servers' versions; these are removed at the end"
	case place == "":
		return told + "; lockcheck itself reads and writes nothing there"
	default:
		return told + "; lockcheck itself reads and writes " + place + ", and removes these at the end"
	}
}

// againEvery is how long a service that did not answer is left alone.
const againEvery = 500 * time.Millisecond

// attachedAgain waits until the service works, as it did when the run attached to it. One that does not, although nothing that the run
// did to its clients is in effect any more, ends the run: its liveness is not judged, so nothing else would tell.
func (r *Run) attachedAgain(ctx context.Context) error {
	err := clusters.Until(ctx, settleTimeout, againEvery, r.attached.Ready)
	if err != nil && !errors.Is(context.Cause(ctx), context.Canceled) {
		r.fail(fmt.Errorf("%w: everything is healed, and the service that others run did not work for %v: nothing that this run shows is about a whole "+
			"service: %w", clusters.ErrUnavailable, settleTimeout, err))
	}
	return err
}

// leave removes what the run made at a service that others run. It is called when the clients have ended.
func (r *Run) leave() error {
	if r.attached == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), attachTimeout)
	defer cancel()
	err := clusters.Removed(ctx, r.attached)
	if err == nil {
		return r.out.Forget()
	}
	return fmt.Errorf("%w: %s: %w; this removes them: %s", clusters.ErrLeft, r.attached.Place(), err, strings.Join(r.setup.Attach.CleanCommand, " "))
}

// pace spreads what is asked of a service over time. The zero pace spreads nothing.
type pace struct {
	every time.Duration
	turns chan time.Time // has the time of the next turn
}

func newPace(attach *Attach) *pace {
	p := &pace{turns: make(chan time.Time, 1)}
	if attach != nil {
		p.every = time.Second / time.Duration(attach.MaxRate)
	}
	p.turns <- time.Time{}
	return p
}

// wait returns when it is the caller's turn; false if ctx or until is over first.
func (p *pace) wait(ctx context.Context, until <-chan struct{}) bool {
	if p.every == 0 {
		return true
	}
	now := time.Now()
	turn := <-p.turns
	if turn.Before(now) {
		turn = now
	}
	p.turns <- turn.Add(p.every)
	timer := time.NewTimer(time.Until(turn))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-until:
	case <-ctx.Done():
	}
	return false
}
