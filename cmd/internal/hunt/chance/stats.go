package chance

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// RestrictedMean is the mean number of runs to the first find, of which none is longer than the budget: a search that found nothing counts with all
// of it. Source: Royston and Parmar, Restricted mean survival time, BMC Medical Research Methodology 13 (2013).
func RestrictedMean(all []Ended) float64 {
	runs := 0
	for _, e := range all {
		runs += e.Runs
	}
	return float64(runs) / float64(len(all))
}

// LogRank is the two-sided p value of the test that two arms find at one rate: of all runs with a number the finds in the first arm are compared with
// those expected. 1 where nothing was found at all. Source: Mantel, Evaluation of survival data, Cancer Chemotherapy Reports 50 (1966).
func LogRank(a, b []Ended) float64 {
	var times []int
	for _, e := range slices.Concat(a, b) {
		if e.Found {
			times = append(times, e.Runs)
		}
	}
	slices.Sort(times)
	excess, variance := 0.0, 0.0
	for _, at := range slices.Compact(times) {
		count := func(all []Ended) (risk, found float64) {
			for _, e := range all {
				if e.Runs >= at {
					risk++
				}
				if e.Found && e.Runs == at {
					found++
				}
			}
			return risk, found
		}
		ra, fa := count(a)
		rb, fb := count(b)
		n, d := ra+rb, fa+fb
		excess += fa - d*ra/n
		if n > 1 {
			variance += d * ra / n * rb / n * (n - d) / (n - 1)
		}
	}
	if variance == 0 {
		return 1
	}
	return math.Erfc(math.Abs(excess) / math.Sqrt(2*variance))
}

// A12 is how often a search of the first arm takes more runs than one of the second, ties counted half: 0.5 for equal ones, more where the second is
// better. Source: Vargha and Delaney, A Critique and Improvement of the CL Common Language Effect Size Statistics, 2000.
func A12(a, b []Ended) float64 {
	wins := 0.0
	for _, x := range a {
		for _, y := range b {
			switch {
			case x.Runs > y.Runs || x.Runs == y.Runs && !x.Found && y.Found:
				wins++
			case x.Runs == y.Runs && x.Found == y.Found:
				wins += 0.5
			}
		}
	}
	return wins / float64(len(a)*len(b))
}

// Holm corrects p values of several tests. Source: Holm, A Simple Sequentially Rejective Multiple Test Procedure, 1979.
func Holm(p []float64) []float64 {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(p[i], p[j]) })
	corrected := make([]float64, len(p))
	most := 0.0
	for rank, i := range order {
		most = max(most, min(1, p[i]*float64(len(p)-rank)))
		corrected[i] = most
	}
	return corrected
}

// Ratio is a geometric mean of ratios, with its 95 % interval.
type Ratio struct{ Mean, Low, High float64 }

// resamples are the bootstrap's, of a fixed seed: the same ratios have the same interval.
const resamples = 4000

// GeometricMean is over bugs, and its interval by a percentile bootstrap over bugs. Source: Efron and Tibshirani, An Introduction to the Bootstrap, 1993.
func GeometricMean(ratios []float64) Ratio {
	logs := make([]float64, len(ratios))
	sum := 0.0
	for i, one := range ratios {
		logs[i] = math.Log(one)
		sum += logs[i]
	}
	r := rand.New(rand.NewPCG(1, 0x626f6f74))
	means := make([]float64, resamples)
	for i := range means {
		for range logs {
			means[i] += logs[r.IntN(len(logs))]
		}
		means[i] = math.Exp(means[i] / float64(len(logs)))
	}
	slices.Sort(means)
	return Ratio{math.Exp(sum / float64(len(logs))), means[resamples*25/1000], means[resamples*975/1000]}
}
