package chance

import (
	"math"
	"testing"
)

func searches(runs ...int) (all []Ended) {
	for _, n := range runs {
		e := Ended{Runs: max(n, -n), Found: n > 0} // negative: nothing was found
		all = append(all, e)
	}
	return all
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 5e-4 {
		t.Errorf("%s is %.4f, want %.4f", what, got, want)
	}
}

// The two groups of Freireich's trial of 6-MP (Blood 21, 1963), of which textbooks give a chi-square of 16.79 (p 0.00004).
func TestLogRankOfAKnownTrial(t *testing.T) {
	drug := searches(6, 6, 6, -6, 7, -9, 10, -10, -11, 13, 16, -17, -19, -20, 22, 23, -25, -32, -32, -34, -35)
	placebo := searches(1, 1, 2, 2, 3, 4, 4, 5, 5, 8, 8, 8, 8, 11, 11, 12, 12, 15, 17, 22, 23)
	if p := LogRank(drug, placebo); p < 4.0e-5 || p > 4.4e-5 {
		t.Errorf("p is %g", p)
	}
	near(t, "p of equal arms", LogRank(placebo, placebo), 1)
	near(t, "p where nothing was found", LogRank(searches(-5, -5), searches(-5, -5)), 1)
}

func TestSmallStatistics(t *testing.T) {
	near(t, "restricted mean", RestrictedMean(searches(1, 4, -10)), 5)
	near(t, "Â12", A12(searches(3, 5), searches(1, 3)), 3.5/4)
	near(t, "Â12 at the budget", A12(searches(-9), searches(9)), 1)
	holm := Holm([]float64{0.01, 0.04, 0.03, 0.005})
	for i, want := range []float64{0.03, 0.06, 0.06, 0.02} {
		near(t, "Holm's correction", holm[i], want)
	}
	r := GeometricMean([]float64{1, 4})
	near(t, "geometric mean", r.Mean, 2)
	near(t, "lower end", r.Low, 1)
	near(t, "upper end", r.High, 4)
}
