//go:build linux

package agent_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"lockcheck/clusters"
	"lockcheck/nemesis/agent"
	"lockcheck/nemesis/agent/firewall"
)

// station is a host with its agent and a radio.
type station struct {
	box
	radio talker
}

func newStation(t *testing.T, site clusters.Site, name string) *station {
	t.Helper()
	b := newBox(t, site, name)
	return &station{b, startTalker(t, b.Host, clusters.Command{Args: []string{"radio"}})}
}

var words int

// reaches sends datagrams until one arrives or the time is over.
func (from *station) reaches(to *station, within time.Duration) bool {
	from.radio.t.Helper()
	for deadline := time.Now().Add(within); ; time.Sleep(5 * time.Millisecond) {
		words++
		word := fmt.Sprintf("word-%d", words)
		from.radio.ask("send " + to.Addr() + " " + word)
		if to.radio.ask("heard "+word) == "true" {
			return true
		}
		if time.Now().After(deadline) {
			return false
		}
	}
}

// Long enough for a packet that is not dropped, many times over; and for how long it is tried whether one arrives.
const (
	silence = 60 * time.Millisecond
	healing = 30 * time.Second
)

func (from *station) passes(to *station, want bool, when string) {
	from.radio.t.Helper()
	within := silence
	if want {
		within = healing
	}
	if got := from.reaches(to, within); got != want {
		from.radio.t.Errorf("%s: packets from %s to %s arrive: %v, want %v", when, from.Host.Name(), to.Host.Name(), got, want)
	}
}

func block(name string, peers ...*station) agent.Block {
	b := agent.Block{Name: name}
	for _, p := range peers {
		b.Links = append(b.Links, firewall.Link{Peer: p.Addr(), In: true, Out: true, Share: 1})
	}
	return b
}

func TestACutDropsPacketsBetweenItsHostsAlone(t *testing.T) {
	onHosts(t, func(t *testing.T, site clusters.Site) {
		a, b, c := newStation(t, site, "n1"), newStation(t, site, "n2"), newStation(t, site, "n3")
		for _, way := range []struct {
			name    string
			in, out bool
		}{{"both", true, true}, {"in", true, false}, {"out", false, true}} {
			a.passes(b, true, "before "+way.name)
			b.passes(a, true, "before "+way.name)
			a.do(t, agent.NetworkBlock, agent.Block{Name: way.name, Links: []firewall.Link{{Peer: b.Addr(), In: way.in, Out: way.out, Share: 1}}}, nil)
			a.passes(b, !way.out, way.name)
			b.passes(a, !way.in, way.name)
			for _, ends := range [][2]*station{{a, c}, {c, a}, {b, c}, {c, b}} {
				ends[0].passes(ends[1], true, way.name)
			}
			a.do(t, agent.NetworkUnblock, agent.Unblock{Name: way.name}, nil)
			a.passes(b, true, "after "+way.name)
			b.passes(a, true, "after "+way.name)
		}
	})
}

// The rules are the host's, not the process's: a process that starts there anew is cut off, too.
func TestARestartedProcessIsStillCutOff(t *testing.T) {
	onHosts(t, func(t *testing.T, site clusters.Site) {
		a, b := newStation(t, site, "n1"), newStation(t, site, "n2")
		a.do(t, agent.NetworkBlock, block("cut", b), nil)
		a.passes(b, false, "cut off")
		if err := a.radio.Kill(t.Context()); err != nil {
			t.Fatal(err)
		}
		a.radio = startTalker(t, a.Host, clusters.Command{Args: []string{"radio"}})
		a.passes(b, false, "started again")
		b.passes(a, false, "started again")
		a.do(t, agent.NetworkUnblock, agent.Unblock{Name: "cut"}, nil)
		a.passes(b, true, "healed")
		b.passes(a, true, "healed")
	})
}

// Two cuts of one host are two: taking one back leaves the other.
func TestCutsOfOneHostAreApart(t *testing.T) {
	onHosts(t, func(t *testing.T, site clusters.Site) {
		a, b, c := newStation(t, site, "n1"), newStation(t, site, "n2"), newStation(t, site, "n3")
		a.do(t, agent.NetworkBlock, block("first", b), nil)
		a.do(t, agent.NetworkBlock, block("second", b, c), nil)
		if err := a.Do(t.Context(), agent.NetworkBlock, block("second", c), nil); err == nil || !strings.Contains(err.Error(), "second") {
			t.Errorf("a second cut of that name: %v, want an error that names it", err)
		}
		a.do(t, agent.NetworkUnblock, agent.Unblock{Name: "second"}, nil)
		a.passes(b, false, "the first is left")
		a.passes(c, true, "the second is gone")
		a.do(t, agent.NetworkUnblock, agent.Unblock{Name: "second"}, nil) // once more is no error
		a.do(t, agent.NetworkUnblock, agent.Unblock{Name: "first"}, nil)
		a.passes(b, true, "both are gone")
	})
}

func TestNoCutOutlivesItsAgent(t *testing.T) {
	onHosts(t, func(t *testing.T, site clusters.Site) {
		a, b := newStation(t, site, "n1"), newStation(t, site, "n2")
		for name, end := range map[string]func() error{
			"closed": func() error { return a.Close() },
			"killed": func() error { return a.KillAgent(t) },
		} {
			a.do(t, agent.NetworkBlock, block("cut", b), nil)
			a.passes(b, false, name)
			b.passes(a, false, name)
			if err := end(); err != nil {
				t.Fatal(err)
			}
			a.passes(b, true, name)
			b.passes(a, true, name)
			a.Agent = startAgent(t, a.Host)
		}
	})
}

// The datagrams by which a run sees its own cuts: who calls, who hears, and what is said of a call that cannot be made.
func TestAgentsHearEachOther(t *testing.T) {
	onHosts(t, func(t *testing.T, site clusters.Site) {
		a, b := newStation(t, site, "n1"), newStation(t, site, "n2")
		hears := func(at *station, want string, asked ...string) {
			t.Helper()
			var heard []string
			for deadline := time.Now().Add(healing); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
				var some []string
				at.do(t, agent.NetworkHeard, agent.Heard{Words: asked}, &some)
				if heard = append(heard, some...); len(heard) > 0 {
					break
				}
			}
			if got := strings.Join(heard, " "); got != want {
				t.Errorf("%s heard %q, want %q", at.Host.Name(), got, want)
			}
		}
		var unsent agent.Unsent
		b.do(t, agent.NetworkHeard, agent.Heard{}, nil)
		a.do(t, agent.NetworkCall, agent.Calls{Calls: []agent.Call{{Addr: b.Addr(), Word: "one"}, {Addr: "n2", Word: "two"}}}, &unsent)
		if len(unsent) != 1 || unsent["two"] == "" {
			t.Errorf("unsent: %v, want two, for its address", unsent)
		}
		hears(b, "one", "one", "two")
		var again []string
		if b.do(t, agent.NetworkHeard, agent.Heard{Words: []string{"one"}}, &again); len(again) > 0 {
			t.Errorf("%q is told twice", again)
		}
		a.do(t, agent.NetworkBlock, block("cut", b), nil)
		a.do(t, agent.NetworkCall, agent.Calls{Calls: []agent.Call{{Addr: b.Addr(), Word: "three"}}}, &unsent)
		if unsent["three"] == "" {
			t.Error("a call that the caller's own rules drop is taken for sent")
		}
	})
}
