//go:build linux

package agent_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"lockcheck/clusters"
	"lockcheck/nemesis/agent"
	"lockcheck/nemesis/testkit"
	"lockcheck/nemesis/vdso"
)

// sees asks a clock helper.
func (talk talker) sees() (wall, mono time.Duration) {
	talk.t.Helper()
	if _, err := fmt.Sscan(talk.ask("?"), &wall, &mono); err != nil {
		talk.t.Fatal(err)
	}
	return wall, mono
}

func skew(p clusters.Process, wall, mono time.Duration, expiry time.Duration) agent.SetClock {
	return agent.SetClock{Target: clusters.TargetOf(p), Skew: vdso.Skew{
		Wall: vdso.Shift{Offset: wall}, Monotonic: vdso.Shift{Offset: mono}, Expiry: expiry,
	}}
}

func TestAProcessSeesTheClockThatWasAskedFor(t *testing.T) {
	onHosts(t, func(t *testing.T, site clusters.Site) {
		b := newBox(t, site, "n1")
		set, other := startTalker(t, b.Host, clusters.Command{Args: []string{"clock"}}), startTalker(t, b.Host, clusters.Command{Args: []string{"clock"}})
		want := func(when string, wantWall, wantMono time.Duration) {
			t.Helper()
			if wall, mono := set.sees(); !testkit.Near(wall, wantWall) || !testkit.Near(mono, wantMono) {
				t.Errorf("%s: it sees its wall clock off by %v and its monotonic one by %v, want %v and %v", when, wall, mono, wantWall, wantMono)
			}
			if wall, mono := other.sees(); !testkit.Near(wall, 0) || !testkit.Near(mono, 0) {
				t.Errorf("%s: its neighbour's clocks are off by %v and %v", when, wall, mono)
			}
			if ours := testkit.Beyond(unix.CLOCK_REALTIME, func() int64 { return time.Now().UnixNano() }); !testkit.Near(ours, 0) {
				t.Errorf("%s: the harness's clock is off by %v", when, ours)
			}
		}
		want("at first", 0, 0)
		var seen agent.ClockSeen
		b.do(t, agent.ClockSet, skew(set, 90*time.Second, 0, time.Minute), &seen)
		want("ahead", 90*time.Second, 0)
		if !testkit.Near(seen.Wall, 90*time.Second) || seen.Monotonic != 0 || seen.Stopped <= 0 {
			t.Errorf("the agent says %+v", seen)
		}
		b.do(t, agent.ClockSet, skew(set, -3*time.Second, 0, time.Minute), &seen)
		want("set again, behind", -3*time.Second, 0)
		b.do(t, agent.ClockSet, skew(set, 0, 2*time.Second, time.Minute), &seen)
		want("monotonic", 0, 2*time.Second)
		if !testkit.Near(seen.Monotonic, 2*time.Second) || seen.Wall != 0 {
			t.Errorf("the agent says %+v", seen)
		}
		b.do(t, agent.ClockReset, clusters.TargetOf(set), nil)
		want("reset", 0, 2*time.Second) // a monotonic clock never goes back

		began := time.Now() // it gains from some moment of the call on
		b.do(t, agent.ClockSet, agent.SetClock{Target: clusters.TargetOf(set), Skew: vdso.Skew{Wall: vdso.Shift{Drift: 1}, Expiry: time.Minute}}, nil)
		time.Sleep(300 * time.Millisecond)
		wall, _ := set.sees()
		if highest := time.Since(began) + testkit.Within; wall < 300*time.Millisecond-testkit.Within || wall > highest {
			t.Errorf("at double speed it gained %v in some 300 ms (at most %v)", wall, highest)
		}
	})
}

// Closed, an agent takes its skews back; killed, it leaves them to end by themselves.
func TestNoSkewOutlivesItsAgentForLong(t *testing.T) {
	onHosts(t, func(t *testing.T, site clusters.Site) {
		b := newBox(t, site, "n1")
		p := startTalker(t, b.Host, clusters.Command{Args: []string{"clock"}})
		b.do(t, agent.ClockSet, skew(p, time.Hour, 0, time.Minute), nil)
		if wall, _ := p.sees(); !testkit.Near(wall, time.Hour) {
			t.Fatalf("its clock is off by %v", wall)
		}
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
		if wall, _ := p.sees(); !testkit.Near(wall, 0) {
			t.Errorf("the agent is closed, and the clock is off by %v", wall)
		}

		b.Agent = startAgent(t, b.Host)
		const expiry = time.Second
		set := time.Now()
		b.do(t, agent.ClockSet, skew(p, time.Hour, 0, expiry), nil)
		applied := time.Now()
		if err := b.KillAgent(t); err != nil {
			t.Fatal(err)
		}
		if wall, _ := p.sees(); !testkit.Near(wall, time.Hour) && time.Since(set) < expiry {
			t.Errorf("the clock is off by %v only", wall)
		}
		time.Sleep(time.Until(applied.Add(expiry + 200*time.Millisecond)))
		if wall, _ := p.sees(); !testkit.Near(wall, 0) {
			t.Errorf("the skew has expired, and the clock is off by %v", wall)
		}
	})
}

func TestClockRequestsAreRefusedByWhatIsWrong(t *testing.T) {
	onHosts(t, func(t *testing.T, site clusters.Site) {
		b := newBox(t, site, "n1")
		p := startTalker(t, b.Host, clusters.Command{Args: []string{"clock"}})
		nowhere := agent.SetClock{Skew: vdso.Skew{Expiry: time.Minute}}
		gone := skew(p, time.Second, 0, time.Minute)
		gone.Target.PID = 1 << 21
		for says, ask := range map[string]agent.SetClock{
			"no process was named": nowhere,
			"none of its":          gone,
			"expiry":               skew(p, time.Second, 0, 0),
			"never goes back":      skew(p, 0, -time.Second, time.Minute),
		} {
			if err := b.Do(t.Context(), agent.ClockSet, ask, nil); err == nil || !strings.Contains(err.Error(), says) {
				t.Errorf("%+v: %v, want an error that says %q", ask, err, says)
			}
		}
		if wall, mono := p.sees(); !testkit.Near(wall, 0) || !testkit.Near(mono, 0) {
			t.Errorf("what was refused has an effect: %v, %v", wall, mono)
		}
	})
}
