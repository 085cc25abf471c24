package nemesis

import (
	"context"
	"slices"

	"lockcheck/checker/history"
)

// partition drops the packets between sets of hosts.
var partition = Kind{
	Name:     "partition",
	About:    "drops packets, both ways or one (in, out): a holder from all others, servers from each other, any pair of sides",
	Default:  "partition:holder@work,1.5..2.2ttl,partition:leader,1.2..2.2ttl,partition:holder-servers@work,1.5..2.2ttl,partition:minority,1.2..2.2ttl,partition:bridge,1.2..2.2ttl,partition:client,0.2..1ttl",
	needs:    CapabilityNetwork,
	targets:  []string{roleHolder, "waiter", roleClient, "clients", roleLeader, roleFollower, roleOne, "minority", "majority", roleServer, roleAPIServer, roleBridge},
	defaults: defaults{of: outlivesLease},
	accepts:  accepts{peer: true},
	words:    []string{"in", "out"},
	begin:    func(ctx context.Context, a *act) error { return a.cut(ctx, 1) },
	requires: func(f Fault) []string {
		switch {
		case f.Target.Name == roleHolder && f.outlives() && slices.Contains([]string{"", roleServers, roleEverything}, f.Peer.Name):
			return []string{history.PastLease(f.exposures())}
		case f.Target.Name == roleHolder: // who still reaches some of the servers may go on to renew
			return []string{history.OfHolders(f.exposures())}
		case roles[f.Target.Name].clients:
			return []string{f.exposures()}
		}
		return []string{history.OfServers(f.exposures())}
	},
}
