package nemesis

import (
	"fmt"
	"slices"

	"lockcheck/checker/history"
)

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
