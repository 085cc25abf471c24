package nemesis

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"lockcheck/checker/history"
)

func TestPausesAreStratified(t *testing.T) {
	for _, ttl := range []time.Duration{time.Second, 2 * time.Second, 10 * time.Second} {
		for seed := range int64(200) {
			steps := drawPauses(Plan{Seed: seed, TTL: ttl, Limit: time.Minute}).(*pauses).steps
			first := steps[0]
			if first.role != roleHolder || first.gap > 4*time.Second {
				t.Fatalf("seed %d: the first pause is of a %s after %v, want a holder's well within 5 s", seed, first.role, first.gap)
			}
			roles := map[string]bool{}
			for i, s := range steps {
				long := s.role == roleHolder && s.duration >= ttl*3/2
				if i%2 == 0 && !long {
					t.Fatalf("seed %d, TTL %v: step %d pauses a %s for %v, want every second one to be a holder's past its lease", seed, ttl, i, s.role, s.duration)
				}
				if i%2 == 1 && (s.duration >= ttl || s.duration <= 0) {
					t.Fatalf("seed %d, TTL %v: step %d pauses for %v, want those between to be short", seed, ttl, i, s.duration)
				}
				if s.into <= 0 || s.into >= 1 {
					t.Fatalf("seed %d: step %d begins %v into the work", seed, i, s.into)
				}
				roles[s.role] = true
			}
			if ttl == time.Second && len(roles) != 3 {
				t.Errorf("seed %d: a minute of pauses is aimed only at %v", seed, roles)
			}
		}
	}
}

func TestOneSeedDrawsOneSchedule(t *testing.T) {
	draw := func(seed int64) []string {
		return drawPauses(Plan{Seed: seed, TTL: 2 * time.Second, Limit: time.Minute}).Steps()
	}
	if !slices.Equal(draw(7), draw(7)) {
		t.Error("seed 7 draws two schedules")
	}
	if slices.Equal(draw(7), draw(8)) {
		t.Error("seeds 7 and 8 draw the same schedule")
	}
}

// scene is a stage with one worker and one server. It writes down what is done to them.
type scene struct {
	worker     Worker
	notWorking int // so many workers have finished by the time that they are looked at
	target     Target
	op         int64
	events     []string
}

func (s *scene) NextWorker(ctx context.Context) (Worker, error) { return s.worker, ctx.Err() }
func (s *scene) StillWorking(Worker) bool                       { s.notWorking--; return s.notWorking < 0 }
func (s *scene) Client(string) Target                           { return s.target }
func (s *scene) Clients() []Target                              { return []Target{s.target} }
func (s *scene) Nodes() []Target                                { return nil }
func (s *scene) Hold(string) (hold, key string, ok bool)        { return "h9", "k1", true }
func (s *scene) NextOp() int64                                  { s.op++; return s.op }

func (s *scene) Record(e history.Event) int64 {
	does := "inject"
	if e.Heal {
		does = "heal"
	}
	s.events = append(s.events, fmt.Sprintf("%s %s %s %s %s", does, e.Type, e.F, e.Target, e.Hold))
	return int64(len(s.events))
}

// victim can be stopped, unless it refuses.
type victim struct {
	refuses         error
	paused, resumed int
}

func (v *victim) Name() string                 { return "c1" }
func (v *victim) Pause(context.Context) error  { v.paused++; return v.refuses }
func (v *victim) Resume(context.Context) error { v.resumed++; return nil }

// rock is a target that can suffer nothing.
type rock struct{}

func (rock) Name() string { return "c1" }

func TestAPauseIsRecordedAsWhatCameOfIt(t *testing.T) {
	holder := pauseStep{role: roleHolder, duration: time.Millisecond, into: 0.5}
	worker := Worker{Client: "c1", Hold: "h1", Key: "k1", Work: time.Millisecond}
	took := []string{"inject invoke pause c1 h1", "inject ok pause c1 h1", "heal invoke pause c1 h1", "heal ok pause c1 h1"}
	cases := []struct {
		name    string
		step    pauseStep
		scene   scene
		events  []string
		resumed int
	}{
		{"seen to work, then taken back", holder, scene{target: &victim{}}, took, 1},
		{"work that was over is let go", holder, scene{target: &victim{}, notWorking: 3}, took, 1},
		{"not seen to work: no effect is claimed, and it is taken back all the same", holder,
			scene{target: &victim{refuses: errors.New("a thread still runs")}},
			[]string{"inject invoke pause c1 h1", "inject fail pause c1 h1", "heal invoke pause c1 h1", "heal ok pause c1 h1"}, 1},
		{"nothing to stop", pauseStep{role: roleClient}, scene{target: rock{}},
			[]string{"inject invoke pause c1 h9", "inject fail pause c1 h9"}, 0},
		{"no server at all", pauseStep{role: roleServer}, scene{},
			[]string{"inject invoke pause nobody ", "inject fail pause nobody "}, 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			c.scene.worker = worker
			if err := c.step.run(t.Context(), &c.scene); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(c.scene.events, c.events) {
				t.Errorf("recorded\n%q, want\n%q", c.scene.events, c.events)
			}
			if v, ok := c.scene.target.(*victim); ok && v.resumed != c.resumed {
				t.Errorf("resumed %d times, want %d", v.resumed, c.resumed)
			}
		})
	}
}

func TestWhatIsPausedWhenTheRunEndsIsHealed(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	v := &victim{}
	stage := &scene{target: v, worker: Worker{Client: "c1", Hold: "h1", Work: time.Millisecond}}
	time.AfterFunc(50*time.Millisecond, cancel)
	nemesis := &pauses{ttl: time.Hour, steps: []pauseStep{{role: roleHolder, duration: time.Hour, into: 0.5}}}
	if err := nemesis.Run(ctx, stage); err != nil {
		t.Fatal(err)
	}
	if v.paused != 1 || v.resumed != 1 {
		t.Errorf("paused %d times and resumed %d times, want once each", v.paused, v.resumed)
	}
}
