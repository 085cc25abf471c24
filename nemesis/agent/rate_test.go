//go:build linux

package agent_test

import (
	"testing"

	"lockcheck/clusters"
	"lockcheck/nemesis/agent"
	"lockcheck/nemesis/agent/shaper"
)

// sends measures a transfer of a quarter of a second at a rate, in bits a second, and returns how many of such times it took.
func sends(t *testing.T, from, to box, bits int64) (quarters float64, held uint64) {
	t.Helper()
	var seen agent.Transferred
	b := agent.Transfer{Addr: to.Addr(), Bytes: shaper.Burst(bits) + bits/8/4}
	from.do(t, agent.RateTransfer, b, &seen)
	t.Logf("%d bytes at %d bit/s took %v", b.Bytes, bits, seen.Took)
	return seen.Took.Seconds() * 4, seen.HeldBack
}

// fast sends until it is faster than a limit, which is a matter of tries on a busy machine.
func fast(t *testing.T, from, to box, bits int64) {
	t.Helper()
	for range 50 {
		if quarters, _ := sends(t, from, to, bits); quarters < 0.9 {
			return
		}
	}
	t.Errorf("it still sends no faster than %d bit/s", bits)
}

func TestAHostSendsNoFasterThanItsLimit(t *testing.T) {
	onHosts(t, func(t *testing.T, site clusters.Site) {
		a, b := newBox(t, site, "n1"), newBox(t, site, "n2")
		a.do(t, agent.RateTry, nil, nil)
		a.do(t, agent.RateListen, nil, nil)
		b.do(t, agent.RateListen, nil, nil)
		for _, bits := range []int64{8_000, 64_000, 1_000_000, 20_000_000} {
			a.do(t, agent.RateLimit, agent.Limit{Bits: bits}, nil)
			if quarters, held := sends(t, a, b, bits); quarters < 0.9 || held == 0 {
				t.Errorf("at %d bit/s it took %.2f of the least time, and %d packets waited", bits, quarters, held)
			}
			if bits > 64_000 { // what it sends back are acknowledgements, which wait, too
				fast(t, b, a, bits)
			}
			if err := a.Do(t.Context(), agent.RateLimit, agent.Limit{Bits: bits}, nil); err == nil {
				t.Error("a second limit was made")
			}
			a.do(t, agent.RateUnlimit, nil, nil)
			fast(t, a, b, bits)
		}
	})
}

func TestALimitEndsWithItsAgent(t *testing.T) {
	onHosts(t, func(t *testing.T, site clusters.Site) {
		a, b := newBox(t, site, "n1"), newBox(t, site, "n2")
		b.do(t, agent.RateListen, nil, nil)
		a.do(t, agent.RateLimit, agent.Limit{Bits: 64_000}, nil)
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
		fast(t, box{a.Host, startAgent(t, a.Host)}, b, 64_000)
	})
}
