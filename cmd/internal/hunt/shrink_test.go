package hunt

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"lockcheck/nemesis"
)

// flaky shows a violation in a share of the runs of those plans in which a pause of a holder comes behind a partition of the leader.
func flaky(share float64) Tries {
	return func(ctx context.Context, p Plan, seed int64) (Shown, error) {
		text := p.Nemesis.String()
		cut, paused := strings.Index(text, "partition:leader"), strings.LastIndex(text, "pause:holder")
		r := rand.New(rand.NewPCG(uint64(seed), 1))
		return shown(cut >= 0 && paused > cut && r.Float64() < share), ctx.Err()
	}
}

func shown(yes bool) Shown {
	if yes {
		return ShownYes
	}
	return ShownNo
}

func plan(t *testing.T, text string) Plan {
	t.Helper()
	spec, err := nemesis.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return Plan{Nemesis: spec, Clients: 5, Keys: 3}
}

func shrinker(t *testing.T, share float64, seed int64) *Shrinker {
	return &Shrinker{Menu: menu(), Try: flaky(share), Seed: seed, Confirm: 20, Say: func(format string, args ...any) { t.Logf(format, args...) }}
}

const large = "partition:leader,in,3ttl;pause:holder@work;kill:follower@acquire,2ttl"

func TestAPlanIsShrunkToWhatItNeeds(t *testing.T) {
	for _, share := range []float64{1, 0.9, 0.6} {
		for seed := int64(1); seed <= 5; seed++ {
			s := shrinker(t, share, 1000*seed)
			got, err := s.Shrink(t.Context(), plan(t, large))
			if err != nil {
				t.Fatal(err)
			}
			text := got.Plan.Nemesis.String()
			if len(got.Plan.Nemesis) != 2 || !strings.HasPrefix(text, "partition:leader") || !strings.Contains(text, ";pause:holder") || got.Plan.Clients != 2 || got.Plan.Keys != 1 {
				t.Errorf("rate %.1f, seed %d: %s", share, seed, got.Plan)
			}
			if got.Rate.Runs != 20 || got.Rate.Share() < share/2 {
				t.Errorf("confirmed %s", got.Rate)
			}
			if len(got.Without) != 2 || got.Without[0].Rate.Hits != 0 || got.Without[1].Rate.Hits != 0 {
				t.Errorf("without its steps: %v", got.Without)
			}
			if got.Contrast == nil {
				t.Error("it has no contrast")
			}
		}
	}
}

// Of a mix the one fault is kept that shows it.
func TestOfAMixOneFaultIsKept(t *testing.T) {
	s := shrinker(t, 1, 1)
	s.Try = func(_ context.Context, p Plan, _ int64) (Shown, error) {
		return shown(strings.Contains(p.Nemesis.String(), "kill:one")), nil
	}
	got, err := s.Shrink(t.Context(), plan(t, "pause:holder@work,kill:one@work,clock:one+2ttl"))
	if err != nil || !strings.HasPrefix(got.Plan.Nemesis.String(), "kill:one") || len(got.Plan.Nemesis[0]) != 1 {
		t.Errorf("%s, %v", got.Plan, err)
	}
}

// A violation that comes seldom is shrunk only by somebody who was told how long that takes; one that does not come again, never.
func TestWhatComesSeldomIsAsked(t *testing.T) {
	var rare *RareError
	s := shrinker(t, 0.2, 1)
	if _, err := s.Shrink(t.Context(), plan(t, large)); !errors.As(err, &rare) || rare.Rate.Hits == 0 || rare.Needs < time.Minute || !strings.Contains(err.Error(), "say --budget=") {
		t.Errorf("%v", err)
	}
	s = shrinker(t, 0.2, 1)
	s.Rarely = func(rate Rate, _ time.Duration) bool { return rate == rare.Rate }
	got, err := s.Shrink(t.Context(), plan(t, large))
	if err != nil || len(got.Plan.Nemesis) != 2 || got.Rate.Runs < 30 {
		t.Errorf("%s, %s, %v", got.Plan, got.Rate, err)
	}
	s = shrinker(t, 0, 1)
	s.Rarely = func(Rate, time.Duration) bool { t.Error("it asks"); return true }
	if _, err := s.Shrink(t.Context(), plan(t, large)); !errors.As(err, &rare) || rare.Needs != 0 {
		t.Errorf("%v", err)
	}
}

// Runs side by side lead to the same decisions: they count in the order of their seeds.
func TestShrinkingSideBySide(t *testing.T) {
	for seed := int64(1); seed <= 5; seed++ {
		s := shrinker(t, 0.9, 1000*seed)
		s.Jobs = 4
		got, err := s.Shrink(t.Context(), plan(t, large))
		if err != nil || len(got.Plan.Nemesis) != 2 || got.Plan.Clients != 2 || got.Rate.Runs != 20 {
			t.Errorf("%s, %s, %v", got.Plan, got.Rate, err)
		}
	}
}

// A decision takes as many runs as hunt.go promises.
func TestHowManyRunsADecisionTakes(t *testing.T) {
	for rate, most := range map[float64]float64{0.9: 6, 0.5: 12, 0.3: 24} {
		s := Shrinker{rate: rate}
		if runs := s.decision(); runs < 2 || runs > most {
			t.Errorf("at a rate of %.1f a decision takes %.1f runs, want at most %.0f", rate, runs, most)
		}
	}
}

// A budget that is spent ends the search with what it has.
func TestASpentBudgetKeepsWhatIsKnown(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	s := shrinker(t, 1, 1)
	runs, try := 0, s.Try // one after the other
	s.Try = func(ctx context.Context, p Plan, seed int64) (Shown, error) {
		if runs++; runs == 20 {
			stop()
		}
		return try(ctx, p, seed)
	}
	got, err := s.Shrink(ctx, plan(t, large))
	if err != nil || !got.Cut || got.Rate.Runs != 0 || len(got.Plan.String()) >= len(plan(t, large).String()) {
		t.Errorf("%s, cut %t, %v", got.Plan, got.Cut, err)
	}
}

// A contrast is near the plan that is kept, and no run of it shows the violation.
func TestAContrastIsTested(t *testing.T) {
	late := func(from int) *Shrinker { // what did not show it shows it after so many misses
		s := shrinker(t, 1, 1)
		try, runs := s.Try, 0
		s.Try = func(ctx context.Context, p Plan, seed int64) (Shown, error) {
			shows, err := try(ctx, p, seed)
			if shows == ShownNo {
				runs++
				shows = shown(runs > from)
			}
			return shows, err
		}
		return s
	}
	for from := range 40 {
		got, err := late(from).Shrink(t.Context(), plan(t, large))
		if err != nil {
			t.Fatal(err)
		}
		if got.Contrast == nil {
			continue
		}
		if got.ContrastRate.Runs != contrastRuns || got.ContrastRate.Hits != 0 {
			t.Errorf("%d misses: the contrast %s has %s", from, got.Contrast, got.ContrastRate)
		}
	}
	if got, err := late(1000).Shrink(t.Context(), plan(t, large)); err != nil || got.Contrast == nil || len(got.Contrast.Nemesis) > len(got.Plan.Nemesis) {
		t.Errorf("%v, contrast %v", err, got.Contrast)
	}
}

// A run without a verdict could not tell, and costs nothing of what is known. One after the other end the search.
func TestRunsWithoutAVerdict(t *testing.T) {
	s := shrinker(t, 1, 1)
	runs, try := 0, s.Try
	s.Try = func(ctx context.Context, p Plan, seed int64) (Shown, error) {
		if runs++; runs%9 == 0 {
			return ShownUnknown, &UnmadeError{70, "it was killed"}
		}
		return try(ctx, p, seed)
	}
	got, err := s.Shrink(t.Context(), plan(t, large))
	if err != nil || len(got.Plan.Nemesis) != 2 || got.Before.Unknown != 1 || !got.Confirmed {
		t.Errorf("%s, before %s, %v", got.Plan, got.Before, err)
	}
	s, runs = shrinker(t, 1, 1), 0
	s.Try = func(ctx context.Context, p Plan, seed int64) (Shown, error) {
		if runs++; runs > 20 {
			return ShownUnknown, &UnmadeError{69, "no server"}
		}
		return try(ctx, p, seed)
	}
	got, err = s.Shrink(t.Context(), plan(t, large))
	var unmade *UnmadeError
	if !errors.As(err, &unmade) || unmade.Code != 69 || runs != 20+mostUnmade || len(got.Plan.String()) >= len(plan(t, large).String()) {
		t.Errorf("%s, %v after %d runs", got.Plan, err, runs)
	}
}

// Runs that could not tell are no contrast: a fault that hit nobody broke nothing.
func TestWhatCouldNotTellIsNoContrast(t *testing.T) {
	s := shrinker(t, 1, 1)
	try := s.Try
	s.Try = func(ctx context.Context, p Plan, seed int64) (Shown, error) {
		shows, err := try(ctx, p, seed)
		if shows == ShownNo {
			shows = ShownUnknown
		}
		return shows, err
	}
	got, err := s.Shrink(t.Context(), plan(t, large))
	if err != nil || got.Contrast != nil || len(got.Without) != 2 || got.Without[0].Rate.Unknown != 12 {
		t.Errorf("contrast %v, without its steps %v, %v", got.Contrast, got.Without, err)
	}
}
