//go:build linux

package delay

import (
	"fmt"
	"sync"

	"lockcheck/nemesis/agent/firewall"
)

// claims are the ways that each delay by netem holds: a packet is led to one detour only, so their delays would not add up.
var claims struct {
	sync.Mutex
	bySlot map[int]map[string]bool
}

// claim takes all ways of the links, or says which one another delay has.
func claim(slot int, links []firewall.Link) error {
	wanted := map[string]bool{}
	for _, l := range links {
		if l.In {
			wanted["from "+l.Peer] = true
		}
		if l.Out {
			wanted["to "+l.Peer] = true
		}
	}
	claims.Lock()
	defer claims.Unlock()
	if claims.bySlot == nil {
		claims.bySlot = map[int]map[string]bool{}
	}
	for _, taken := range claims.bySlot {
		for way := range wanted {
			if taken[way] {
				return fmt.Errorf("another delay holds the packets %s already: with netem, delays of one way do not add up", way)
			}
		}
	}
	claims.bySlot[slot] = wanted
	return nil
}

// unclaim reports whether it was the last one's.
func unclaim(slot int) (last bool) {
	claims.Lock()
	defer claims.Unlock()
	_, had := claims.bySlot[slot]
	delete(claims.bySlot, slot)
	return had && len(claims.bySlot) == 0
}
