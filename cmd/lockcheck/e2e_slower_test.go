//go:build e2e

package main_test

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"lockcheck/checker/history"
)

// untilExposed ends a load once all has happened that the run requires, however long that takes a busy machine.
const untilExposed = "--until=exposed"

// Faults that stop nothing: less processor, less network, and servers that go away in good order.
func init() {
	aimedRows = append(aimedRows,
		aimed{
			name: "a holder is neither dead nor alive", backend: "etcd", args: []string{"--nemesis=slow:holder,20%,1..1.5ttl", untilExposed, atMost},
			why:     "a part of the processor is enough to renew in time, or to be told; a write that is late all the same is the client's, not the service's",
			exposed: history.OfHolders("slowdowns"), may: belief, also: keepToTheirShare,
		},
		aimed{
			name: "the leader sends slowly", backend: "etcd", args: []string{"--nemesis=rate:leader,64kbit,0.5..1ttl", untilExposed, atMost},
			why:     "what is acknowledged late is on a majority's disks; a holder that cannot reach the service in time may believe too long",
			exposed: history.OfServers("rate-limits"), may: belief, also: allHeal,
		},
		aimed{
			name: "servers are restarted in turn", backend: "zookeeper", args: []string{"--nemesis=restart:all,rolling", untilExposed, atMost},
			why:     "as in an upgrade there is a quorum all the time, and what was acknowledged is on its disks, unless the servers' logs show that they lost it",
			exposed: history.OfServers("restarts"), may: belief, forgets: zooKeeperForgets, also: oneAfterAnother,
		},
	)
}

// inOrder are the faults that took effect, as they came. All of them have to be over.
func inOrder(t *testing.T, o outcome) (all []*fault) {
	t.Helper()
	for _, f := range faults(t, o) {
		if f.ended.Type == history.OK {
			all = append(all, f)
		}
		if f.ended.Type == history.OK && f.healed.Type != history.OK || f.healed.Type == history.Fail {
			t.Errorf("%s of %s was not seen to be over: %s", f.invoked.F, f.invoked.Target, f.healed.Error)
		}
	}
	slices.SortFunc(all, func(a, b *fault) int { return cmp.Compare(a.invoked.TimeNS, b.invoked.TimeNS) })
	return all
}

func allHeal(t *testing.T, o outcome) { inOrder(t, o) }

// enoughTurns are those over which a slowdown keeps to its share even where one of them was late. The end of a load may cut it short before.
const enoughTurns = 20

// keepToTheirShare looks at what was measured of slowdowns to a fifth: a part of it that cannot be taken for all or nothing.
func keepToTheirShare(t *testing.T, o outcome) {
	for _, f := range inOrder(t, o) {
		var ran, of, had float64
		var turns int
		var word string
		if _, err := fmt.Sscanf(f.healed.Detail, "ran %f %% of %f s in %d %s with %f ms", &ran, &of, &turns, &word, &had); err != nil {
			t.Fatalf("%q: %v", f.healed.Detail, err)
		}
		if turns < 1 || ran <= 0 || ran >= 100 || turns >= enoughTurns && ran > 50 || had <= 0 || had/1e3 > of {
			t.Errorf("slowed to a fifth, %s", f.healed.Detail)
		}
	}
}

// oneAfterAnother looks that each server was back before the next one was stopped, and that none had a second turn before all had one.
func oneAfterAnother(t *testing.T, o outcome) {
	had := map[string]bool{}
	var before *fault
	for _, f := range inOrder(t, o) {
		if before != nil && f.invoked.TimeNS < before.healed.TimeNS {
			t.Errorf("%s was stopped before %s was back", f.invoked.Target, before.invoked.Target)
		}
		if had[f.invoked.Target] {
			t.Errorf("%s had a second turn after %s", f.invoked.Target, strings.Join(slices.Sorted(maps.Keys(had)), ", "))
		}
		if had[f.invoked.Target] = true; len(had) == 3 {
			clear(had)
		}
		before = f
	}
}
