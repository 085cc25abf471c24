package hunt

import (
	"context"
	"math"
	"time"
)

// What a decision may be wrong about: to say yes in 5 % of all cases, and no in 10 %.
const wrongYes, wrongNo = 0.05, 0.1

var accept, reject = math.Log((1 - wrongNo) / wrongYes), math.Log(wrongNo / (1 - wrongYes))

// hopes are the rates that a decision tells apart.
func (s *Shrinker) hopes() (good, bad float64) { return min(0.8*s.rate, 0.99), 0.25 * s.rate }

// mostRuns bounds a decision, where twice the average is not more. One that is not taken by then leaves the plan as it is.
const mostRuns = 40

// holds decides whether a plan shows the violation at 0.8 times the rate of the one that was found, rather than at a quarter of it: some 4 runs
// where that was 0.9, and 10 where it was 0.5. Of runs side by side those behind the decision do not count.
// Source: Wald, Sequential Tests of Statistical Hypotheses, Annals of Mathematical Statistics 16 (1945).
func (s *Shrinker) holds(ctx context.Context, p Plan) (bool, Rate, error) {
	good, bad := s.hopes()
	var rate Rate
	evidence := 0.0
	for rate.Runs < max(mostRuns, int(2*s.decision())) {
		all, err := s.try(ctx, p, max(s.Jobs, 1))
		if err != nil {
			return false, rate, err
		}
		for _, shown := range all {
			rate.add(shown)
			if shown == ShownYes {
				evidence += math.Log(good / bad)
			} else {
				evidence += math.Log((1 - good) / (1 - bad))
			}
			if evidence >= accept {
				return true, rate, nil
			}
			if evidence <= reject {
				return false, rate, nil
			}
		}
	}
	return false, rate, nil
}

// rarest is the least rate at which a plan is shrunk without a question: a decision at 0.3 takes some 20 runs.
const rarest = 0.3

// needs estimates how long it takes to shrink a plan at the rate that was measured: each smaller plan is tried, and half as many once more after a
// change that held.
func (s *Shrinker) needs(p Plan) time.Duration {
	runs := 1.5*float64(len(s.smaller(p)))*s.decision() + float64(s.confirmations()) + float64(12*len(p.Nemesis))
	return (time.Duration(runs) * s.each).Round(time.Minute) + time.Minute
}

// decision is how many runs a decision takes on average of a plan that shows the violation as often as is hoped for (Wald).
func (s *Shrinker) decision() float64 {
	good, bad := s.hopes()
	return ((1-wrongNo)*accept + wrongNo*reject) / (good*math.Log(good/bad) + (1-good)*math.Log((1-good)/(1-bad)))
}

// confirmations are the runs of the result: at least six should show the violation.
func (s *Shrinker) confirmations() int { return max(s.Confirm, int(math.Ceil(6/s.rate))) }
