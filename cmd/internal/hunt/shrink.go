package hunt

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"lockcheck/nemesis"
	"lockcheck/reports/rate"
)

// Plan is what of a run is shrunk.
type Plan struct {
	Nemesis nemesis.Spec
	Clients int
	Keys    int
}

// Rate is of how many runs so many showed the violation. Runs that could not tell did not show it.
type Rate struct{ Hits, Runs, Unknown int }

func (r *Rate) add(shown Shown) {
	r.Runs++
	switch shown {
	case ShownYes:
		r.Hits++
	case ShownUnknown:
		r.Unknown++
	}
}

// Share is the rate as a number from 0 to 1; 0 of no runs.
func (r Rate) Share() float64 {
	if r.Runs == 0 {
		return 0
	}
	return float64(r.Hits) / float64(r.Runs)
}

// String is the rate with its 95 % interval.
func (r Rate) String() string {
	text := rate.Rate{Hits: r.Hits, Runs: r.Runs}.String()
	if r.Unknown > 0 {
		text += fmt.Sprintf(", of which %d could not tell", r.Unknown)
	}
	return text
}

// Shown is what a run says of the violation that is shrunk.
type Shown string

// What it may say.
const (
	ShownYes     Shown = "yes"
	ShownNo      Shown = "no" // the property was judged, and holds
	ShownUnknown Shown = "unknown"
)

// Tries makes one run of a plan and says whether it shows the violation that is shrunk. Several are made at once. The error of a run that came to no
// verdict is an UnmadeError: such a run counts as one that could not tell, and five in a row end the search.
type Tries func(ctx context.Context, p Plan, seed int64) (Shown, error)

// Shrinker makes a plan smaller as long as its runs show the same violation. Runs are chances: each decision is a sequential test.
type Shrinker struct {
	Menu    nemesis.Menu
	Try     Tries
	Seed    int64
	Jobs    int // runs side by side; 0: 1
	Confirm int // runs with seeds that no decision used; more if the violation comes seldom
	Say     func(format string, args ...any)
	// Rarely decides whether a violation is shrunk that comes in less than 30 % of the runs, told how long that would take. Nil: it is not.
	Rarely func(Rate, time.Duration) bool

	rate float64       // of the plan as it was found
	each time.Duration // of a run, jobs considered
	used int64         // seeds
	// unmade is how many runs in a row came to no verdict.
	unmade int
}

// Shrunk is what came of it.
type Shrunk struct {
	Plan   Plan
	Before Rate // of the plan as it was found
	Rate   Rate // of this one, on fresh seeds
	// Confirmed says that Rate is complete.
	Confirmed bool
	Without   []Need // what the absence of each step does
	// Contrast is a plan that is smaller by one change. The runs of its decision were all judged, and none showed it; nor did any on fresh seeds,
	// which ContrastRate is of. Nil if there was none.
	Contrast     *Plan
	ContrastRate Rate
	// Cut says that the budget was spent before all was tried.
	Cut bool
}

// Need is how often a plan without one of its steps showed the violation.
type Need struct {
	Step string
	Rate Rate
}

// RareError is of a violation that comes too seldom for decisions.
type RareError struct {
	Rate  Rate
	Needs time.Duration // that shrinking would take; 0: it did not come again at all
}

func (e *RareError) Error() string {
	if e.Needs == 0 {
		return fmt.Sprintf("it comes too seldom to shrink it: %s showed it", e.Rate)
	}
	return fmt.Sprintf("it comes too seldom to shrink it quickly: %s showed it, and shrinking would take some %s: say --budget=%s", e.Rate, e.Needs, e.Needs)
}

// contrastRuns are those of a contrast, and of the plan without each of its steps, on fresh seeds.
const contrastRuns = 12

// maxContrasts is how many plans are tried as the contrast: two or three misses are chance if a plan fails half the time.
const maxContrasts = 3

// Shrink makes a plan smaller. When ctx ends it stops with what it has, which is then not confirmed.
func (s *Shrinker) Shrink(ctx context.Context, found Plan) (shrunk Shrunk, err error) {
	shrunk.Plan = found
	began := time.Now()
	if shrunk.Before, err = s.count(ctx, found, 10); err != nil {
		return shrunk, err
	}
	s.each = time.Since(began) / time.Duration(max(shrunk.Before.Runs, 1))
	if s.rate = shrunk.Before.Share(); s.rate == 0 {
		return shrunk, &RareError{Rate: shrunk.Before}
	}
	needs := s.needs(found)
	s.Say("the plan as it was found: %s; shrinking takes some %s", shrunk.Before, needs)
	if s.rate < rarest && (s.Rarely == nil || !s.Rarely(shrunk.Before, needs)) {
		return shrunk, &RareError{shrunk.Before, needs}
	}
	kept := []Plan{found}
	var contrasts []Plan
	for smaller := true; smaller && !shrunk.Cut; {
		smaller, contrasts = false, nil // a contrast is near this plan
		for _, c := range s.smaller(shrunk.Plan) {
			holds, rate, err := s.holds(ctx, c.plan)
			switch {
			case ctx.Err() != nil:
				shrunk.Cut = true
			case err != nil:
				return shrunk, err
			case holds:
				s.Say("%s: still %s", c.what, rate)
				shrunk.Plan, smaller = c.plan, true
				kept = append(kept, c.plan)
			default:
				s.Say("%s: only %s", c.what, rate)
				if rate.Hits == 0 && rate.Unknown == 0 {
					contrasts = append(contrasts, c.plan)
				}
			}
			if smaller || shrunk.Cut {
				break
			}
		}
	}
	if shrunk.Cut {
		return shrunk, nil
	}
	for { // the sum of many decisions, each right nine times in ten, is guarded by the end
		if shrunk.Rate, err = s.count(ctx, shrunk.Plan, s.confirmations()); err != nil {
			return shrunk, err
		}
		if shrunk.Rate.Share() >= s.rate/2 || len(kept) == 1 {
			break
		}
		s.Say("confirmed only %s: its last change is taken back", shrunk.Rate)
		kept = kept[:len(kept)-1]
		shrunk.Plan, contrasts = kept[len(kept)-1], nil
	}
	shrunk.Confirmed = true
	for _, contrast := range slices.Backward(contrasts[max(len(contrasts)-maxContrasts, 0):]) { // the smallest changes were tried last
		rate, err := s.count(ctx, contrast, contrastRuns)
		if err != nil {
			return shrunk, err
		}
		if rate.Hits == 0 {
			shrunk.Contrast, shrunk.ContrastRate = &contrast, rate
			break
		}
	}
	if steps := shrunk.Plan.Nemesis; len(steps) > 1 {
		for i := range steps {
			rate, err := s.count(ctx, withoutStep(shrunk.Plan, i), contrastRuns)
			if err != nil {
				return shrunk, err
			}
			shrunk.Without = append(shrunk.Without, Need{nemesis.Spec{steps[i]}.String(), rate})
		}
	}
	return shrunk, nil
}

func (s *Shrinker) count(ctx context.Context, p Plan, runs int) (rate Rate, err error) {
	for rate.Runs < runs {
		all, err := s.try(ctx, p, min(runs-rate.Runs, max(s.Jobs, 1)))
		if err != nil {
			return rate, err
		}
		for _, shown := range all {
			rate.add(shown)
		}
	}
	return rate, nil
}

// try makes runs side by side, and returns what they show in the order of their seeds.
func (s *Shrinker) try(ctx context.Context, p Plan, runs int) ([]Shown, error) {
	all, errs := make([]Shown, runs), make([]error, runs)
	var working sync.WaitGroup
	for i := range runs {
		s.used++
		seed := s.Seed + s.used
		working.Go(func() { all[i], errs[i] = s.Try(ctx, p, seed) })
	}
	working.Wait()
	for i, err := range errs {
		var unmade *UnmadeError
		if !errors.As(err, &unmade) {
			s.unmade = 0
			continue
		}
		if s.unmade++; s.unmade >= mostUnmade {
			return nil, unmade
		}
		all[i], errs[i] = ShownUnknown, nil
	}
	return all, errors.Join(errs...)
}

// candidate is a smaller plan.
type candidate struct {
	what string
	plan Plan
}

// smaller are the plans that are smaller by one change, those that would be smallest first.
func (s *Shrinker) smaller(p Plan) (all []candidate) {
	add := func(what string, to Plan) {
		spec, ok := s.Menu.Accepts(to.Nemesis)
		to.Nemesis = spec
		if ok && to.String() != p.String() && !slices.ContainsFunc(all, func(c candidate) bool { return c.plan.String() == to.String() }) {
			all = append(all, candidate{what, to})
		}
	}
	if len(p.Nemesis) == 1 && len(p.Nemesis[0]) > 1 {
		for _, fault := range p.Nemesis[0] {
			to := p
			to.Nemesis = nemesis.Spec{{fault}}
			add("only "+fault.String(), to)
		}
		return all // the rest once it is one fault
	}
	if len(p.Nemesis) > 1 {
		for i := range p.Nemesis {
			add("without "+nemesis.Spec{p.Nemesis[i]}.String(), withoutStep(p, i))
		}
	}
	if p.Clients > 2 {
		to := p
		to.Clients = 2
		add("with 2 clients", to)
	}
	if p.Keys > 1 {
		to := p
		to.Keys = 1
		add("with one lock", to)
	}
	for i := range p.Nemesis {
		for _, simpler := range p.Nemesis[i][0].Simpler() {
			to := p
			to.Nemesis = slices.Clone(p.Nemesis)
			to.Nemesis[i] = []nemesis.Fault{simpler}
			add("with "+simpler.String(), to)
		}
	}
	return all
}

func withoutStep(p Plan, i int) Plan {
	p.Nemesis = slices.Delete(slices.Clone(p.Nemesis), i, i+1)
	return p
}

// String is the plan as flags.
func (p Plan) String() string {
	return fmt.Sprintf("--nemesis=%s --clients=%d --keys=%d", p.Nemesis, p.Clients, p.Keys)
}
