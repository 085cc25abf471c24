package nemesis

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// ahead is a scene with a moment of one kind that comes while the first fault is on its way, and one that comes later, if that is not 0.
type ahead struct {
	*scene
	kind  Trigger
	later time.Duration
}

func (a *ahead) Listen(kind Trigger, wants func(Moment) bool) Listener {
	l := a.scene.Listen(kind, wants).(listener)
	if kind != a.kind {
		return l
	}
	moments := make(chan Moment, 2)
	early, later := l.moment, l.moment
	early.At, early.Hold = time.Now().Add(-time.Millisecond), "early"
	if len(a.events) == 0 {
		moments <- early
	}
	if a.later > 0 {
		go func() {
			time.Sleep(a.later)
			later.At, later.Hold = time.Now(), "later"
			moments <- later
		}()
	}
	return queued(moments)
}

// queued hears of what is in it.
type queued chan Moment

func (q queued) Next(ctx context.Context) (Moment, error) {
	select {
	case m := <-q:
		return m, nil
	case <-ctx.Done():
		return Moment{}, ctx.Err()
	}
}
func (queued) End() {}

// The moment of a later step can come while the step before is on its way, and never again. It serves if it is still so and no other
// comes, and if what it is about can stay so.
func TestAStepListensWhileTheOneBeforeIsOnItsWay(t *testing.T) {
	first := []string{"inject invoke pause c1 h9", "inject ok pause c1 h9"}
	healed := []string{"heal invoke pause c1 h9", "heal ok pause c1 h9"}
	second := func(hold string) []string {
		return []string{"inject invoke kill c2 " + hold, "inject ok kill c2 " + hold, "heal invoke kill c2 " + hold, "heal ok kill c2 " + hold}
	}
	for name, c := range map[string]struct {
		spec  string
		over  string
		later time.Duration
		want  []string
		after time.Duration // how long the second step waits
	}{
		"no other comes":                     {"kill:holder@acquire", "", 0, second("early"), patienceTTLs * time.Second},
		"no other waits":                     {"kill:waiter@queue", "", 0, second("early"), patienceTTLs * time.Second},
		"another comes":                      {"kill:holder@acquire", "", 2 * time.Second, second("later"), 2 * time.Second},
		"another comes too late":             {"kill:holder@acquire", "", 4 * time.Second, second("early"), patienceTTLs * time.Second},
		"over, and another comes late":       {"kill:holder@acquire", "early", 4 * time.Second, second("later"), 4 * time.Second},
		"over, and no other comes":           {"kill:holder@acquire", "early", 0, nil, waitTTLs * time.Second},
		"none that can stay so":              {"kill:holder@work", "", 0, nil, waitTTLs * time.Second},
		"none that can stay so, and another": {"kill:holder@worked", "", 2 * time.Second, second("later"), 2 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				spec := mustParse(t, "pause:client(1)@lost;"+c.spec+",1s")
				s := &ahead{&scene{clients: five("c")}, spec[1][0].Trigger, c.later}
				s.moment = Moment{Client: "c2", Hold: "h1"}
				s.isOver = c.over
				if err := drawSchedule(spec, Conditions{Seed: 3, TTL: time.Second, Limit: time.Millisecond}).rounds[0].run(t.Context(), s, time.Second); err != nil {
					t.Fatal(err)
				}
				if want := slices.Concat(first, c.want, healed); !slices.Equal(s.events, want) {
					t.Errorf("recorded\n%q, want\n%q", s.events, want)
				}
				if c.want != nil {
					c.after += time.Second
				}
				if took := time.Since(began); took != c.after {
					t.Errorf("the round took %v, want %v", took, c.after)
				}
			})
		})
	}
}

// Work is met at the part of it that was drawn, reckoned from its beginning.
func TestWorkIsMetWhereItWasDrawn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		step := drawnStep{Fault: mustParse(t, "pause:holder@work")[0][0], WorkFraction: 0.3}
		began := time.Now()
		moments := make(queued, 1)
		moments <- Moment{Kind: AtWork, Client: "c1", At: began, Work: 10 * time.Second}
		time.Sleep(2 * time.Second)
		a := awaited{step: step, moments: moments, since: began}
		if _, err := a.await(t.Context(), &scene{}, time.Second); err != nil {
			t.Fatal(err)
		}
		if after := time.Since(began); after != 3*time.Second {
			t.Errorf("met after %v of 10s, want 30 %% of it", after)
		}
	})
}
