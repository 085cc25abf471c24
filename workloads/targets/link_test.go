package targets

import (
	"strings"
	"testing"

	"lockcheck/clusters"
	"lockcheck/nemesis"
)

// placed is a target that can be cut off and nothing else.
func placed(l link) Place { return l.agents.Place(l.host.Name(), l.host) }

// Cuts overlap in sequences: taking one back is no error where another still separates the two, and only there.
func TestACutIsMendedWhereNoOtherIs(t *testing.T) {
	onHosts(t, func(t *testing.T, site clusters.Site) {
		on := NewAgents()
		a, b, c := placed(newLink(t, on, site, "n1")), placed(newLink(t, on, site, "n2")), placed(newLink(t, on, site, "n3"))
		some, all := []nemesis.Linked{b}, []nemesis.Linked{b, c}
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		must(a.Block(t.Context(), "first", nemesis.Cut{Peers: some, In: true, Out: true, Share: 1}))
		must(a.Block(t.Context(), "second", nemesis.Cut{Peers: all, Out: true, Share: 1})) // what comes in from b stays blocked
		sees(t, "both", a, b, false, false)
		sees(t, "both", a, c, false, true)
		must(a.Unblock(t.Context(), "second", all))
		sees(t, "the first", a, b, false, false)
		sees(t, "the first", a, c, true, true)
		must(a.Unblock(t.Context(), "first", some))
		sees(t, "neither", a, b, true, true)
		must(a.Unblock(t.Context(), "never made", some))

		// From the other end, while the first is there.
		must(a.Block(t.Context(), "first", nemesis.Cut{Peers: some, In: true, Share: 1}))
		sees(t, "one way", a, b, true, false)
		must(b.Block(t.Context(), "back", nemesis.Cut{Peers: []nemesis.Linked{a}, In: true, Share: 1}))
		sees(t, "one way each", a, b, false, false)
		must(a.Unblock(t.Context(), "first", some))
		sees(t, "one way back", a, b, false, true)
		must(b.Unblock(t.Context(), "back", []nemesis.Linked{a}))
		sees(t, "neither again", a, b, true, true)
	})
}

// sees holds what passes against what is to, both ways; and that a leak would be told, each way.
func sees(t *testing.T, when string, a, b Place, there, back bool) {
	t.Helper()
	for _, way := range []struct {
		from, to Place
		open     bool
	}{{a, b, there}, {b, a, back}} {
		if err := verifyPaths(t.Context(), []passage{{from: way.from.link, to: way.to.link, open: way.open}}); err != nil {
			t.Errorf("%s: %v", when, err)
		}
		if !way.open && when != "both" {
			continue // that packets do not pass takes a second to tell: once is enough
		}
		err := verifyPaths(t.Context(), []passage{{from: way.from.link, to: way.to.link, open: !way.open}})
		if err == nil || !strings.Contains(err.Error(), "from "+way.from.Name()+" to "+way.to.Name()) {
			t.Errorf("%s: that packets pass from %s to %s was expected to be %v and is %v, and the error is %v", when, way.from.Name(), way.to.Name(), !way.open, way.open, err)
		}
	}
}
