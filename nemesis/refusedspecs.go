package nemesis

import (
	"fmt"
	"slices"
	"time"

	"lockcheck/checker/history"
)

// few is the spec for a service with so few servers that some targets, or the other side of some, are none: a fault of them could never
// happen. What was asked for by name is refused, and default mixes do without it.
func (s Spec) few(conditions Conditions) (Spec, error) {
	left := make(Spec, 0, len(s))
	for _, mix := range s {
		var some []Fault
		for _, f := range mix {
			err := f.tooFew(conditions)
			if err != nil && !f.fromDefault {
				return nil, err
			}
			if err == nil {
				some = append(some, f)
			}
		}
		left = append(left, some)
	}
	return left, nil
}

// tooFew is why a fault can never happen with so many servers.
func (f Fault) tooFew(conditions Conditions) error {
	with := history.Counted(int64(conditions.Servers), "server", "servers")
	for _, role := range []Role{f.Target, f.Peer} {
		if many := roles[role.Name].Many; many != nil && many(conditions.Servers) == 0 || role.Name == roleFollower && conditions.Servers == 1 {
			return fmt.Errorf("%q: with %s there is no %s: aim at one, leader or all, as far as %s takes them, or take more --nodes", f.String(), with, role.Name, f.Kind)
		}
	}
	others := conditions.Servers + conditions.Fronts - f.Target.meaning().Size(conditions.Servers)
	if kindNamed(f.Kind).Takes.Peer && !roles[f.Target.Name].Clients && (f.Peer.Name == "" || f.Peer.Name == roleServers) && others <= 0 {
		return fmt.Errorf("%q: with %s there is none on the other side: name another one (-clients, -resource), or take more --nodes", f.String(), with)
	}
	return nil
}

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

// checkTimes refuses faults that cannot be seen, or cannot come to all their targets, while the load lasts: every run of them would have
// tested nothing.
func (s Spec) checkTimes(conditions Conditions) error {
	if conditions.Limit == 0 || conditions.TTL == 0 {
		return nil
	}
	for _, mix := range s {
		for _, f := range mix {
			if f.fromDefault {
				continue
			}
			if held := f.Delay.least(conditions.TTL) - f.Spread.most(conditions.TTL); held >= conditions.Limit {
				return fmt.Errorf("%q: a packet would be held for at least %v, and the load is over after %v, before one was seen to come late: take a shorter delay, or a longer --time-limit",
					f.String(), held, conditions.Limit)
			}
			if n := f.Target.meaning().Size(conditions.Servers); f.comesInTurn() && time.Duration(n-1)*f.For.least(conditions.TTL) >= conditions.Limit {
				return fmt.Errorf("%q: with %d servers in turn, each away for at least %v, the last one's turn would come after the load is over (%v): take a shorter time, or a longer --time-limit",
					f.String(), n, f.For.least(conditions.TTL), conditions.Limit)
			}
		}
	}
	return nil
}

// least and most are the bounds of what can be drawn.
func (r Range) least(ttl time.Duration) time.Duration {
	return time.Duration(r.Low * float64(r.unit(ttl)))
}
func (r Range) most(ttl time.Duration) time.Duration {
	return time.Duration(r.High * float64(r.unit(ttl)))
}

func (r Range) unit(ttl time.Duration) time.Duration {
	if r.TTL {
		return ttl
	}
	return time.Second
}

// checkSingle refuses a sequence in which a target may be hit twice by a kind of fault of which it can suffer one at a time.
func (s Spec) checkSingle() error {
	for j, later := range s {
		for i, earlier := range s[:j] {
			a, b := earlier[0], later[0]
			if !a.Target.mayMeet(b.Target) {
				continue
			}
			if a.For.given() && (a.Kind == b.Kind || kindNamed(a.Kind).Halts && kindNamed(b.Kind).Halts) {
				return fmt.Errorf("steps %d and %d of the sequence, %s and %s, may hit the same target, and the end of the first would end the second; leave the duration of the first out, or name different targets",
					i+1, j+1, a.Kind, b.Kind)
			}
			if a.Kind != b.Kind || !kindNamed(a.Kind).Single {
				continue
			}
			called, numbers := "server", roleServer
			if roles[a.Target.Name].Clients {
				called, numbers = "client", roleClient
			}
			return fmt.Errorf("steps %d and %d of the sequence are both %s of a %s, which may be the same one, and it can suffer one of them at a time; name different ones: %s:%s(1), %s:%s(2)",
				i+1, j+1, a.Kind, called, a.Kind, numbers, a.Kind, numbers)
		}
	}
	return s.checkDisksTogether()
}

// checkDisksTogether refuses a sequence in which a disk may follow two rules of which the earlier one hides the later: what stands still is not
// seen to fail or to be slow, and what fails does so at once. The other way round both are seen.
func (s Spec) checkDisksTogether() error {
	for j, later := range s {
		for i, earlier := range s[:j] {
			a, b := earlier[0], later[0]
			if kindNamed(a.Kind).Capability != history.CapabilityDisk || kindNamed(b.Kind).Capability != history.CapabilityDisk || !a.Target.mayMeet(b.Target) || a.Target.leadsOrFollows(b.Target) {
				continue
			}
			is, gets := a.diskRule(), b.diskRule()
			if is.Hides(gets) {
				return fmt.Errorf("steps %d and %d of the sequence are both of a server's disk, which may be the same one: of a disk whose %v it is not seen that its %v; "+
					"put the second one first, have them about different requests (reads, writes, syncs), or name different ones: disk:node(1), disk:node(2)", i+1, j+1, is, gets)
			}
		}
	}
	return nil
}

// leadsOrFollows reports whether one of two is the server that leads and the other one is not.
func (r Role) leadsOrFollows(other Role) bool {
	return r.Name == roleLeader && other.Name == roleFollower || r.Name == roleFollower && other.Name == roleLeader
}

// mayMeet reports whether two roles may mean the same client or server, of those that faults are aimed at. Who leads or holds a lock when
// the second fault comes may be another one than when the first did.
func (r Role) mayMeet(other Role) bool {
	if roles[r.Name].Clients != roles[other.Name].Clients {
		return false
	}
	if len(r.Numbers) == 0 || len(other.Numbers) == 0 {
		return true
	}
	return slices.ContainsFunc(r.Numbers, func(n int) bool { return slices.Contains(other.Numbers, n) })
}
