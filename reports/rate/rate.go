// Package rate says how often something comes: of so many runs so many showed it, with an interval that holds for the true rate. Comparisons,
// galleries and hunts show rates by it. It is pure arithmetic.
package rate

import (
	"fmt"
	"math"
	"slices"
	"strconv"
)

// alpha is how often an interval may miss the true rate: intervals are of 95 %.
const alpha = 0.05

// Rate is of so many runs that could tell so many hits. It may have been looked at several times, to stop once it was known.
type Rate struct {
	Hits, Runs int
	// Looks is how many looks were allowed, each of which has its share of alpha; 0 is one.
	Looks int
	// Among is how many rates are read together, each of which has its share of alpha, so that all their intervals hold at once; 0 is this one alone.
	Among int
}

// tail is the probability that an interval leaves out at either end, at each look and of each rate (Bonferroni): all together miss a true rate in 5 % at
// most, whichever look the runs stopped at.
func (r Rate) tail() float64 { return alpha / 2 / float64(max(r.Looks, 1)*max(r.Among, 1)) }

// Interval is that of Clopper and Pearson: it never covers less than it says, at the price of being wider than others.
// Source: Clopper and Pearson, The use of confidence or fiducial limits illustrated in the case of the binomial, Biometrika 26 (1934).
func (r Rate) Interval() (low, high float64) {
	low, high = 0, 1
	if r.Runs > 0 && r.Hits > 0 {
		low = root(func(p float64) bool { return atLeast(r.Hits, r.Runs, p) > r.tail() })
	}
	if r.Runs > 0 && r.Hits < r.Runs {
		high = root(func(p float64) bool { return atMost(r.Hits, r.Runs, p) < r.tail() })
	}
	return low, high
}

// Whatever is the interval that holds whatever so many runs would have shown that could not tell.
func (r Rate) Whatever(untold int) (low, high float64) {
	r.Runs += untold
	low, _ = r.Interval()
	r.Hits += untold
	_, high = r.Interval()
	return low, high
}

// root is the least p of which something is true that stays so above it.
func root(above func(p float64) bool) float64 {
	low, high := 0.0, 1.0
	for range 60 {
		if middle := (low + high) / 2; above(middle) {
			high = middle
		} else {
			low = middle
		}
	}
	return high
}

// atLeast is the probability of k hits or more in n runs.
func atLeast(k, n int, p float64) float64 { return atMost(n-k, n, 1-p) }

// atMost is the probability of k hits or fewer in n runs. It adds up the side on which the terms fall, so that none that counts underflows.
func atMost(k, n int, p float64) float64 {
	switch {
	case k >= n || p <= 0:
		return 1
	case k < 0 || p >= 1:
		return 0
	case float64(k) > p*float64(n):
		return 1 - atMost(n-k-1, n, 1-p)
	}
	term := math.Exp(choose(n, k) + float64(k)*math.Log(p) + float64(n-k)*math.Log1p(-p))
	sum := 0.0
	for i := k; i >= 0 && term > sum*1e-17; i-- {
		sum += term
		term *= float64(i) / float64(n-i+1) * (1 - p) / p
	}
	return sum
}

// choose is the logarithm of the number of ways to choose k of n.
func choose(n, k int) float64 {
	of := func(n int) float64 { l, _ := math.Lgamma(float64(n) + 1); return l }
	return of(n) - of(k) - of(n-k)
}

// Share is the rate as it was seen; 0 of no runs.
func (r Rate) Share() float64 { return float64(r.Hits) / float64(max(r.Runs, 1)) }

// HalfWidth is that of the interval.
func (r Rate) HalfWidth() float64 {
	low, high := r.Interval()
	return (high - low) / 2
}

// String is the rate with its interval. None of n has one, too: it is never "safe".
func (r Rate) String() string {
	if r.Runs == 0 {
		return "no run could tell"
	}
	low, high := r.Interval()
	return fmt.Sprintf("%d of %d (%s, 95 %% interval %.0f to %.0f %%)", r.Hits, r.Runs, Percent(r.Share()), math.Floor(100*low), math.Ceil(100*high))
}

// Percent is a share in whole percent, with decimals only where the whole would read as never or always.
func Percent(share float64) string {
	for digits := 0; ; digits++ {
		text := strconv.FormatFloat(100*share, 'f', digits, 64)
		if read, _ := strconv.ParseFloat(text, 64); (read > 0) == (share > 0) && (read < 100) == (share < 1) {
			return text + " %"
		}
	}
}

// firstLook is after how many runs a rate is looked at first; each next look is after twice as many.
const firstLook = 5

// Looks are after how many runs a rate is looked at that is made of at most so many.
func Looks(most int) (looks []int) {
	for n := firstLook; n < most; n *= 2 {
		looks = append(looks, n)
	}
	return append(looks, most)
}

// Known reports whether runs may end after so many were tried: at a look, if all rates are known to within a half width. Between looks an interval has no
// share of what all may miss.
func Known(tried, most int, half float64, rates ...Rate) bool {
	return slices.Contains(Looks(most), tried) && !slices.ContainsFunc(rates, func(r Rate) bool { return r.HalfWidth() > half })
}

// MaxRuns is the most runs of a cell, which bounds what a slip of the finger can ask for. A rate that they do not decide is refused.
const MaxRuns = 10_000

// RunsToKnow is about how many runs would bring the half width of the interval down to one, if the rate stays as it was seen; 0 for more than can be made.
func (r Rate) RunsToKnow(half float64) int {
	return r.runs(func(more Rate) bool { return more.HalfWidth() <= half })
}

// runs is the least number of runs, of those that the rate has and twice as many over and over, then halved, of which something is true.
func (r Rate) runs(enough func(Rate) bool) int {
	of := func(n int) Rate {
		r.Hits, r.Runs = int(math.Round(r.Share()*float64(n))), n
		return r
	}
	low, high := r.Runs, max(r.Runs, 1)
	for ; !enough(of(high)); high = min(2*high, MaxRuns) {
		if high >= MaxRuns {
			return 0
		}
		low = high
	}
	for low+1 < high {
		if middle := (low + high) / 2; enough(of(middle)) {
			high = middle
		} else {
			low = middle
		}
	}
	return high
}
