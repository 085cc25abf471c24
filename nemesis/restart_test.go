package nemesis

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
)

// turnsSeen are the events of a scene in which a fault began or was over, in order.
func turnsSeen(s *scene) (seen []string) {
	for _, e := range s.events {
		if words := strings.Fields(e); words[1] != "invoke" {
			seen = append(seen, strings.Join(words[:4], " "))
		}
	}
	return seen
}

// In turn: each server is back before the next one is stopped, and the leader is the last.
func TestARollingRestartLeavesTheLeaderForTheEnd(t *testing.T) {
	s := &scene{nodes: five("n")[:3], leader: "n2"}
	play(t, "restart:all,rolling", s)
	want := []string{
		"inject ok restart n1", "heal ok restart n1", "inject ok restart n3", "heal ok restart n3", "inject ok restart n2", "heal ok restart n2",
	}
	if got := turnsSeen(s); !slices.Equal(got, want) {
		t.Errorf("it went\n%q, want\n%q", got, want)
	}
}

// deposed leads until it is stopped; then another does.
type deposed struct {
	*victim
	of *scene
}

func (d deposed) Quit(ctx context.Context) (string, error) {
	d.of.leader = "n3"
	return d.victim.Quit(ctx)
}

// A service may have another leader after each restart: who leads when only one is left goes last.
func TestARollingRestartLooksWhoLeadsBeforeEachTurn(t *testing.T) {
	s := &scene{leader: "n2"}
	s.nodes = []Target{deposed{&victim{name: "n1"}, s}, &victim{name: "n2"}, &victim{name: "n3"}}
	play(t, "restart:all,rolling", s)
	if got := turnsSeen(s); len(got) != 6 || got[2] != "inject ok restart n2" || got[4] != "inject ok restart n3" {
		t.Errorf("it went %q, want n1, n2, n3", got)
	}
}

// After a restart that the service does not survive no other server is stopped, and the history says why.
func TestARollingRestartStopsWhereTheServiceDoesNotComeBack(t *testing.T) {
	s := &scene{nodes: five("n")[:3], ready: errors.New("n1 follows no leader")}
	env := &failures{scene: s}
	round := drawSchedule(mustParse(t, "restart:all,rolling"), Conditions{Seed: 3, TTL: 1, Limit: 1}).rounds[0]
	if err := round.run(t.Context(), env, 1); err != nil {
		t.Fatal(err)
	}
	if got := did(s.nodes); !slices.Equal(got, []string{"n1 stop", "n1 restart empty=false"}) {
		t.Errorf("did %q, want one restart", got)
	}
	if len(env.words) != 1 || !strings.Contains(env.words[0], "n1 follows no leader") || !strings.Contains(env.words[0], "not restarted") {
		t.Errorf("failed: %q, want the reason once", env.words)
	}
}

// lasting does not end when it is asked to.
type lasting struct {
	*victim
	why error
}

func (l lasting) Quit(context.Context) (string, error) { _ = l.note("stop"); return "", l.why }

// A server that does not end is killed and started again. One that had ended before is left as it is: no fault did that.
func TestAServerThatDoesNotEndInGoodOrder(t *testing.T) {
	for why, want := range map[error][]string{
		errors.New("still there"): {"n1 stop", "n1 kill", "n1 restart empty=false"},
		ErrGone:                   {"n1 stop"},
	} {
		v := &victim{name: "n1"}
		s := &scene{nodes: []Target{lasting{v, why}}}
		play(t, "restart:one", s)
		if got := did([]Target{v}); !slices.Equal(got, want) {
			t.Errorf("%v: did %q, want %q", why, got, want)
		}
		if got := turnsSeen(s); got[0] != "inject fail restart n1" {
			t.Errorf("%v: recorded %q, want a failure", why, got)
		}
	}
}
