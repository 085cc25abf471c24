package nemesis

import (
	"context"

	"lockcheck/checker/history"
)

// What a pause needs to outlive a lease for sure: servers were seen to drop a 2 s lease after 2.0 to 2.5 s.
var outlivesLease = ttls(1.5, 2.2)

// pause stops processes with SIGSTOP and lets them go with SIGCONT.
var pause = Kind{
	Name:     "pause",
	About:    "SIGSTOP and SIGCONT: holders at work past their lease, and shorter pauses of any client or server",
	Default:  "pause:holder@work,1.5..2.2ttl,pause:holder@work,0.1..0.8ttl,pause:client,0.1..0.8ttl,pause:one,0.1..0.8ttl",
	targets:  []string{roleHolder, "waiter", roleClient, "clients", roleLeader, roleFollower, roleOne, "minority", "majority", "all", roleServer, roleAPIServer, roleResource},
	defaults: defaults{of: outlivesLease},
	begin: func(ctx context.Context, a *act) error {
		pauser, ok := a.target.(Pauser)
		if !ok {
			return unable(a.target, "paused")
		}
		a.undo = pauser.Resume
		return pauser.Pause(ctx)
	},
	requires: func(f Fault) []string {
		if f.Target.Name == roleHolder && f.outlives() {
			return []string{history.PastLease(f.exposures())}
		}
		return ofWhom(f)
	},
}

// outlives reports whether the fault is meant to last longer than a lease.
func (f Fault) outlives() bool { return f.For.TTL && f.For.Low >= 1 }
