package nemesis

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// Of five servers the last two are before the others: no quorum counts them, and only their own target or their numbers reach them.
func TestServersBeforeOthersAreInNoQuorum(t *testing.T) {
	for spec, want := range map[string][]string{
		"pause:one":       {"n1", "n2", "n3"},
		"pause:node":      {"n1", "n2", "n3"},
		"pause:minority":  {"n1", "n2", "n3"},
		"pause:majority":  {"n1", "n2", "n3"},
		"pause:all":       {"n1", "n2", "n3"},
		"pause:follower":  {"n1", "n3"},
		"pause:leader":    {"n2"},
		"pause:apiserver": {"n4", "n5"},
		"pause:node(5)":   {"n5"},
	} {
		many := map[string]int{"pause:majority": 2, "pause:all": 3}[spec]
		parsed, err := Parse(spec)
		if err != nil {
			t.Fatal(err)
		}
		s := &scene{nodes: five("n"), fronts: 2, leader: "n2"}
		seen := map[string]bool{}
		for pick := range uint64(64) {
			found := roles[parsed[0][0].Target.Name].find(t.Context(), aim{env: s, role: parsed[0][0].Target, pick: pick})
			if len(found) != max(many, 1) {
				t.Errorf("%s means %d servers, want %d", spec, len(found), max(many, 1))
			}
			for _, target := range found {
				seen[target.Name()] = true
			}
		}
		for name := range seen {
			if !slices.Contains(want, name) {
				t.Errorf("%s may mean %s", spec, name)
			}
		}
		if len(seen) != len(want) {
			t.Errorf("%s means %v at most, want %v", spec, seen, want)
		}
	}
}

// One that is cut off is cut off from all other servers, those before them included.
func TestACutKnowsTheServersBeforeOthers(t *testing.T) {
	for spec, want := range map[string][]string{
		"partition:apiserver":      {"n1", "n2", "n3"},
		"partition:leader":         {"n1", "n3", "n4", "n5"},
		"partition:holder-servers": {"n1", "n2", "n3", "n4", "n5"},
	} {
		parsed, err := Parse(spec)
		if err != nil {
			t.Fatal(err)
		}
		f := parsed[0][0]
		s := &scene{clients: five("c"), nodes: five("n"), fronts: 2, leader: "n2"}
		target := roles[f.Target.Name].find(t.Context(), aim{env: s, role: f.Target})[0]
		var names []string
		for _, p := range (drawnStep{Fault: f}).act(s, target, Moment{}).peers(t.Context()) {
			names = append(names, p.Name())
		}
		for _, name := range want {
			if !slices.Contains(names, name) {
				t.Errorf("%s of %s is from %v, want %v among them", spec, target.Name(), names, want)
			}
		}
		if slices.Contains(names, target.Name()) {
			t.Errorf("%s cuts %s off from itself", spec, target.Name())
		}
	}
}

func TestAServiceWithoutServersBeforeOthersRefusesFaultsOfThem(t *testing.T) {
	plan := Conditions{Seed: 1, TTL: time.Second, Limit: time.Minute, Servers: 3, Clients: 5}
	for _, spec := range []string{"kill:apiserver", "pause:holder@work;partition:holder-apiserver"} {
		if _, err := New(spec, plan); err == nil || !strings.Contains(err.Error(), "no apiserver") {
			t.Errorf("%s: %v", spec, err)
		}
	}
	plan.Fronts = 2
	for spec, wrong := range map[string]string{"kill:apiserver": "", "kill:node(5)": "", "kill:node(6)": "there is no node(6)"} {
		if _, err := New(spec, plan); (err == nil) != (wrong == "") || err != nil && !strings.Contains(err.Error(), wrong) {
			t.Errorf("%s: %v", spec, err)
		}
	}
}
