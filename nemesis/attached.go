package nemesis

import (
	"fmt"
	"slices"
)

// reachable are the other sides that a client can be cut off from where others run the servers. Which of them leads is not asked.
var reachable = []string{"", roleServers, roleServer, roleResource, roleEverything}

// attached is the spec for a service that others run: without what a default mix would do to its servers. What was asked for
// by name is refused.
func (s Spec) attached(text string) (Spec, error) {
	left := make(Spec, 0, len(s))
	for _, mix := range s {
		var some []Fault
		for _, f := range mix {
			ours := f.Kind == none.Name || (roles[f.Target.Name].Clients || roles[f.Target.Name].tested) && f.peerAttached()
			if !ours && !f.fromDefault {
				return nil, fmt.Errorf("%q: with --attach others run the servers, so faults of clients are all there is: aim at holder, waiter, client or clients; "+
					"the other side of a partition, loss or delay is servers, node(1), resource or other clients", f.String())
			}
			if ours {
				some = append(some, f)
			}
		}
		if len(some) == 0 {
			return nil, fmt.Errorf("%q: with --attach others run the servers, and this is done to nothing else", text)
		}
		left = append(left, some)
	}
	return left, nil
}

func (f Fault) peerAttached() bool {
	return slices.Contains(reachable, f.Peer.Name) || roles[f.Peer.Name].Clients
}
