//go:build e2e

package main_test

import (
	"slices"
	"strings"
	"testing"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
)

// sentThenSilenced is the late write with no packet dropped. From the beginning, what c1 sends the resource takes 2.5 TTL: so once its work is
// done, and it has looked at its lock for the last time, its write is on its way for longer than its lease lasts. The second delay,
// which holds up its renewals, only has to begin within half of that. Its lease is over after 1.25 TTL at the latest, and the first renewal
// that was held up comes after 2 TTL.
const sentThenSilenced = "--nemesis=delay:client(1)-resource,out,2.5ttl;delay:client(1)-servers@worked,2ttl,0.5ttl"

func lateOnItsWay(args []string, certain ...model.Name) aimed {
	row := aimed{
		name: strings.Join(append([]string{"a write on its way for longer than its lease"}, args...), " "), backend: "etcd",
		args:    append([]string{"--guard=before-write", sentThenSilenced, "--time-limit=36s"}, args...), // the write lands after 20 to 27 s
		why:     "the last look passes, and the write lands after the next grant: a plain resource takes it, a fenced one does not",
		exposed: history.OfHolders("delays"), violates: certain, may: belief,
		lasts: true, // the write may land before the second delay is seen to work
	}
	row.also = func(t *testing.T, o outcome) {
		renewalsHeldBack := toldOfItsPackets(t, o)
		if len(certain) == 0 && o.results.Stats.Rejected == 0 {
			t.Error("no stale write was rejected")
		}
		stale := o.of(t, model.StaleWrite).Findings
		caused := func(f model.Finding) bool { return renewalsHeldBack[f.Cause.Fault] } // the other one, which lasts longer, lets renewals pass
		if len(stale) > 0 && !slices.ContainsFunc(stale, caused) {
			t.Errorf("the cause is %s: %s", stale[0].Cause.Kind, stale[0].Cause.Text)
		}
	}
	return row
}

// toldOfItsPackets wants that each delay said what became of its packets when it was over. It returns those of what went to the servers.
func toldOfItsPackets(t *testing.T, o outcome) map[int64]bool {
	t.Helper()
	all := map[int64]bool{}
	for _, f := range inOrder(t, o) {
		if !strings.Contains(f.healed.Detail, " packets held back") {
			t.Errorf("a delay ended: %q", f.healed.Detail)
		}
		all[f.ended.Op] = f.ended.LagNS > 0
	}
	return all
}
