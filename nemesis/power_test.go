package nemesis

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"lockcheck/clusters/provider/disk"
)

// board is what several targets did, in order.
type board struct{ victim }

// dimming is a server that goes, or whose power does, later than others.
type dimming struct {
	*victim
	on    *board
	after time.Duration
	fails error
}

func (l dimming) CutPower(context.Context, disk.How) (string, error) {
	time.Sleep(l.after)
	_ = l.on.note("cut")
	return "nothing", l.fails
}

func (l dimming) Kill(context.Context) error {
	time.Sleep(l.after)
	_ = l.on.note("kill")
	return l.fails
}

func (l dimming) Restart(context.Context, bool) error { return l.on.note("restart") }

// A server that is started again finds none of the others with what these have not synced; one whose power could not be cut keeps the
// others waiting no longer than that takes. One that had ended before is left as it is: no fault did that. Killed ones wait for each other, too;
// one that could not be killed is left as it is.
func TestNoServerIsBackBeforeAllAreGone(t *testing.T) {
	for name, c := range map[string]struct {
		spec  string
		fails error
		want  []string
	}{
		"all":                    {"power:all", nil, []string{"cut", "cut", "cut", "restart", "restart", "restart"}},
		"but one":                {"power:all", errors.New("its disk did not answer"), []string{"cut", "cut", "cut", "restart", "restart", "restart"}},
		"but one that had ended": {"power:all", fmt.Errorf("n3: %w", ErrGone), []string{"cut", "cut", "cut", "restart", "restart"}},
		"all killed":             {"kill:all,at-once", nil, []string{"kill", "kill", "kill", "restart", "restart", "restart"}},
		"all killed but one":     {"kill:all,at-once", errors.New("not permitted"), []string{"kill", "kill", "kill", "restart", "restart"}},
	} {
		t.Run(name, func(t *testing.T) {
			b := &board{}
			s := &scene{}
			for i, after := range []time.Duration{0, 30 * time.Millisecond, 60 * time.Millisecond} {
				l := dimming{&victim{name: "n" + string(rune('1'+i))}, b, after, nil}
				if i == 2 {
					l.fails = c.fails
				}
				s.nodes = append(s.nodes, l)
			}
			play(t, c.spec, s)
			if !slices.Equal(b.did, c.want) {
				t.Errorf("did %q, want %q", b.did, c.want)
			}
		})
	}
}

// What was lost is in the history, and what of it a torn disk keeps depends on the seed and on the server.
func TestAPowerCutIsRecorded(t *testing.T) {
	s := &scene{nodes: five("n")[:1]}
	play(t, "power:one", s)
	if seen := turnsSeen(s); !slices.Equal(seen, []string{"inject ok power n1", "heal ok power n1"}) {
		t.Errorf("recorded %q", seen)
	}
	for spec, want := range map[string]bool{"power:one": true, "power:one,0.2ttl": false, "kill:one,at-once": true, "kill:one": false} {
		s := &scene{nodes: five("n")[:1]}
		play(t, spec, s)
		if got := slices.Equal(s.atOnce, []string{"inject ok"}); got != want || !want && len(s.atOnce) != 0 {
			t.Errorf("%s: started again at once, as %q say; want that of one: %v", spec, s.atOnce, want)
		}
	}
	number := func(target, spec string, pick uint64) uint64 {
		a := &act{drawnStep: drawnStep{Fault: mustParse(t, spec)[0][0], pick: pick}, target: rock(target)}
		return a.tornBy()
	}
	seen := []uint64{number("n1", "power:one,torn", 1), number("n2", "power:one,torn", 1), number("n1", "power:one,torn", 1<<20)}
	slices.Sort(seen)
	if len(slices.Compact(seen)) != 3 || slices.Contains(seen, 0) {
		t.Errorf("numbers %v", seen)
	}
	if n := number("n1", "power:one", 1); n != 0 {
		t.Errorf("not torn: number %d", n)
	}
}

// A target without disks of that kind is named.
func TestAPowerCutOfARock(t *testing.T) {
	s := &scene{nodes: []Target{rock("n1")}}
	env := &failures{scene: s}
	round := drawSchedule(mustParse(t, "power:one"), Conditions{Seed: 3, TTL: 1, Limit: 1}).rounds[0]
	if err := round.run(t.Context(), env, 1); err != nil {
		t.Fatal(err)
	}
	if len(env.words) != 1 || !strings.Contains(env.words[0], "n1 cannot be cut off from its power") {
		t.Errorf("failed: %q", env.words)
	}
}
