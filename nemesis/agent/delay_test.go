//go:build linux

package agent_test

import (
	"strings"
	"testing"
	"time"

	"lockcheck/clusters"
	"lockcheck/nemesis/agent"
	"lockcheck/nemesis/agent/delay"
	"lockcheck/nemesis/agent/firewall"
)

// takes is how long datagrams from one agent to another are on their way at best, of those sent in some time.
func takes(t *testing.T, from, to box, word string, within time.Duration) (best time.Duration, heard bool) {
	t.Helper()
	asked := agent.Heard{Words: []string{word}}
	to.do(t, agent.DelayHeard, asked, nil)
	for deadline := time.Now().Add(within); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		from.do(t, agent.DelaySend, agent.Calls{Calls: []agent.Call{{Addr: to.Addr(), Word: word}}}, nil)
		var took agent.Timed
		to.do(t, agent.DelayHeard, asked, &took)
		if some, ok := took[word]; ok && (!heard || some < best) {
			best, heard = some, true
		}
	}
	return best, heard
}

// arrives wants that datagrams from one agent to another do.
func arrives(t *testing.T, from, to box, word string) {
	t.Helper()
	for range 100 {
		if _, heard := takes(t, from, to, word, 100*time.Millisecond); heard {
			return
		}
	}
	t.Errorf("packets from %s do not arrive", from.Host.Name())
}

// However an agent goes, its delay goes with it; and what it holds is sent on if it is asked to go.
func TestNoDelayOutlivesItsAgent(t *testing.T) {
	onHosts(t, func(t *testing.T, site clusters.Site) {
		a, b := newBox(t, site, "n1"), newBox(t, site, "n2")
		long := agent.StartDelay{Name: "long", Links: []firewall.Link{{Peer: b.Addr(), In: true, Out: true}}, Amount: delay.Amount{Mean: 30 * time.Second}}
		for _, end := range []struct {
			name string
			do   func() error
			sent bool
		}{{"closed", func() error { return a.Close() }, true}, {"killed", func() error { return a.KillAgent(t) }, false}} {
			a.do(t, agent.DelayStart, long, nil)
			if err := a.Do(t.Context(), agent.DelayStart, long, nil); err == nil || !strings.Contains(err.Error(), "long") {
				t.Errorf("a second delay of that name: %v, want an error that names it", err)
			}
			if best, heard := takes(t, a, b, end.name, 100*time.Millisecond); heard {
				t.Errorf("%s: a packet arrived after %v", end.name, best)
			}
			if err := end.do(); err != nil {
				t.Fatal(err)
			}
			a.Agent = startAgent(t, a.Host)
			for _, way := range []struct{ from, to box }{{a, b}, {b, a}} {
				arrives(t, way.from, way.to, end.name+"-after")
			}
			var late agent.Timed // what arrived before what came after it
			b.do(t, agent.DelayHeard, agent.Heard{Words: []string{end.name}}, &late)
			if _, arrived := late[end.name]; arrived != end.sent {
				t.Errorf("%s: what was held was sent on: %v, want %v", end.name, arrived, end.sent)
			}
			// What was made can be made again: nothing of that name or number is left.
			var report delay.Report
			a.do(t, agent.DelayStart, long, nil)
			if a.do(t, agent.DelayStop, agent.Unblock{Name: long.Name}, &report); report.Lost() != nil || report.Unread != "" {
				t.Errorf("%s, and again: %+v", end.name, report)
			}
			var how string
			if a.do(t, agent.DelayTry, struct{}{}, &how); !strings.Contains(how, "nfnetlink_queue") {
				t.Errorf("packets can be held back by %q", how)
			}
		}
	})
}
