package nemesis

import (
	"fmt"
	"slices"
)

// checkSingle refuses a sequence in which a target may be hit twice by a kind of fault of which it can suffer one at a time.
func (s Spec) checkSingle() error {
	for j, later := range s {
		for i, earlier := range s[:j] {
			a, b := earlier[0], later[0]
			if a.Kind != b.Kind || !kindNamed(a.Kind).single || !a.Target.mayMeet(b.Target) {
				continue
			}
			called, numbers := "server", roleServer
			if roles[a.Target.Name].clients {
				called, numbers = "client", roleClient
			}
			return fmt.Errorf("steps %d and %d of the sequence are both %s of a %s, which may be the same one, and it can suffer one of them at a time; name different ones: %s:%s(1), %s:%s(2)",
				i+1, j+1, a.Kind, called, a.Kind, numbers, a.Kind, numbers)
		}
	}
	return nil
}

// mayMeet reports whether two roles may mean the same client or server, of those that faults are aimed at. Who leads or holds a lock when
// the second fault comes may be another one than when the first did.
func (r Role) mayMeet(other Role) bool {
	if roles[r.Name].clients != roles[other.Name].clients {
		return false
	}
	if len(r.Numbers) == 0 || len(other.Numbers) == 0 {
		return true
	}
	return slices.ContainsFunc(r.Numbers, func(n int) bool { return slices.Contains(other.Numbers, n) })
}
