package targets

import (
	"strings"
	"testing"
	"time"

	"lockcheck/clusters"
	"lockcheck/nemesis"
	"lockcheck/nemesis/agent"
	"lockcheck/nemesis/agent/delay"
)

// A delay is seen on the ways that it was asked for, also beside another and a cut of the same link; and when it is over.
func TestADelayIsSeenAndSeenToBeGone(t *testing.T) {
	onHosts(t, func(t *testing.T, site clusters.Site) {
		on := NewAgents()
		a, b := placed(newLink(t, on, site, "n1")), placed(newLink(t, on, site, "n2"))
		peers := []nemesis.Linked{b}
		lag := nemesis.Lag{Peers: peers, In: true, Out: true, Amount: delay.Amount{Mean: 200 * time.Millisecond, Spread: 50 * time.Millisecond}}
		out := nemesis.Lag{Peers: peers, Out: true, Amount: delay.Amount{Mean: 100 * time.Millisecond}}
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		begin := func(name string, lag nemesis.Lag) {
			t.Helper()
			asked := time.Now()
			since, err := a.Delay(t.Context(), name, lag)
			must(err)
			if now := time.Now(); since.Before(asked) || now.Sub(since) < lag.Amount.Low() {
				t.Errorf("%s: asked for %v ago, in effect for %v: packets of less than %v were waited for", name, now.Sub(asked), now.Sub(since), lag.Amount.Low())
			}
		}
		end := func(name string, lag nemesis.Lag, held bool) {
			t.Helper()
			report, err := a.Undelay(t.Context(), name, lag)
			must(err)
			if (report.Packets > 0) != held || report.AnyPassed() || report.Unread != "" {
				t.Errorf("%s: %+v, want packets that were held: %v, and none that passed", name, report, held)
			}
		}
		begin("both", lag)
		begin("more", out)
		must(a.Block(t.Context(), "cut", nemesis.Cut{Peers: peers, In: true, Share: 1}))
		sees(t, "cut, delayed", a, b, true, false)
		end("more", out, true)
		begin("again", out)
		end("again", out, true)
		must(a.Unblock(t.Context(), "cut", peers))
		sees(t, "delayed", a, b, true, true)
		end("both", lag, true)
		end("never-made", lag, false)
		sees(t, "neither", a, b, true, true)
	})
}

// What would prove nothing is no proof: a delay of which no packet is seen, or that does not begin or end.
func TestADelayThatIsNotSeenIsNone(t *testing.T) {
	onHosts(t, func(t *testing.T, site clusters.Site) {
		on := NewAgents()
		a, b := placed(newLink(t, on, site, "n1")), placed(newLink(t, on, site, "n2"))
		ways := func(held bool) []passage {
			return []passage{{from: a.link, to: b.link, open: !held}, {from: b.link, to: a.link, open: !held}}
		}
		amount := delay.Amount{Mean: 100 * time.Millisecond}
		wants := func(what, says string, err error) {
			t.Helper()
			if err == nil || !strings.Contains(err.Error(), says) {
				t.Errorf("%s: %v, want an error that says %q", what, err, says)
			}
		}
		wants("no delay", "less than the 100ms", on.verifyDelays(t.Context(), "none", ways(true), amount))
		lag := nemesis.Lag{Peers: []nemesis.Linked{b}, In: true, Out: true, Amount: delay.Amount{Mean: 300 * time.Millisecond}}
		if _, err := a.Delay(t.Context(), "long", lag); err != nil {
			t.Fatal(err)
		}
		on.lags.remove("long") // its agent does not know of it
		wants("too long", "at best, and 100ms was asked for", on.verifyDelays(t.Context(), "some", ways(true), amount))
		wants("still there", "at best", on.verifyDelays(t.Context(), "over", ways(false), amount))
		if err := a.do(t.Context(), agent.DelayStop, agent.Unblock{Name: "long"}, nil); err != nil {
			t.Fatal(err)
		}
		if err := a.Block(t.Context(), "cut", nemesis.Cut{Peers: lag.Peers, In: true, Out: true, Share: 1}); err != nil {
			t.Fatal(err)
		}
		_, err := a.Delay(t.Context(), "unseen", lag)
		wants("cut off", "another fault drops all", err)
	})
}
