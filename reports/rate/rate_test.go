package rate

import (
	"math"
	"strings"
	"testing"
)

// The figures are those of tables of the Clopper-Pearson interval (qbeta(0.025, k, n-k+1) and qbeta(0.975, k+1, n-k) of R).
func TestIntervalsAreThoseOfTheTables(t *testing.T) {
	for _, test := range []struct {
		k, n      int
		low, high float64
		words     string
	}{
		{0, 0, 0, 1, "no run could tell"},
		{0, 1, 0, 0.9750, "0 of 1 (0 %, 95 % interval 0 to 98 %)"},
		{1, 1, 0.0250, 1, "1 of 1 (100 %, 95 % interval 2 to 100 %)"},
		{0, 2, 0, 0.8419, "0 of 2 (0 %, 95 % interval 0 to 85 %)"},
		{0, 10, 0, 0.3085, "0 of 10 (0 %, 95 % interval 0 to 31 %)"},
		{1, 10, 0.0025, 0.4450, "1 of 10 (10 %, 95 % interval 0 to 45 %)"},
		{2, 10, 0.0252, 0.5561, "2 of 10 (20 %, 95 % interval 2 to 56 %)"},
		{5, 10, 0.1871, 0.8129, "5 of 10 (50 %, 95 % interval 18 to 82 %)"},
		{10, 10, 0.6915, 1, "10 of 10 (100 %, 95 % interval 69 to 100 %)"},
		{3, 20, 0.0321, 0.3789, "3 of 20 (15 %, 95 % interval 3 to 38 %)"},
		{20, 20, 0.8316, 1, "20 of 20 (100 %, 95 % interval 83 to 100 %)"},
		{0, 100, 0, 0.0362, "0 of 100 (0 %, 95 % interval 0 to 4 %)"},
		{50, 100, 0.3983, 0.6017, "50 of 100 (50 %, 95 % interval 39 to 61 %)"},
		{1, 500, 0.00005, 0.0111, "1 of 500 (0.2 %, 95 % interval 0 to 2 %)"},
		{499, 500, 0.9889, 0.99995, "499 of 500 (99.8 %, 95 % interval 98 to 100 %)"},
	} {
		r := Rate{Hits: test.k, Runs: test.n}
		if low, high := r.Interval(); math.Abs(low-test.low) > 6e-5 || math.Abs(high-test.high) > 6e-5 {
			t.Errorf("%d of %d: %.5f to %.5f, want %.5f to %.5f", test.k, test.n, low, high, test.low, test.high)
		}
		if words := r.String(); words != test.words {
			t.Errorf("%d of %d: %q, want %q", test.k, test.n, words, test.words)
		}
	}
}

// probability is that of k hits in n runs, added up in another way than atMost does.
func probability(k, n int, p float64) float64 {
	of := 1.0
	for i := range k {
		of *= float64(n-i) / float64(k-i) * p
	}
	return of * math.Pow(1-p, float64(n-k))
}

// shares are true rates, near the ends and the steps of the intervals too.
func shares(n, looks int) (all []float64) {
	for i := 1; i < 100; i++ {
		all = append(all, float64(i)/100)
	}
	for k := range n + 1 { // the coverage is least beside the ends of intervals
		low, high := Rate{Hits: k, Runs: n, Looks: looks}.Interval()
		for _, p := range []float64{low - 1e-9, low + 1e-9, high - 1e-9, high + 1e-9} {
			if p > 0 && p < 1 {
				all = append(all, p)
			}
		}
	}
	return all
}

// Every true rate is in 95 % of the intervals or more: all outcomes are enumerated.
func TestIntervalsCoverWhatTheySay(t *testing.T) {
	for n := 1; n <= 40; n++ {
		for _, p := range shares(n, 1) {
			covered := 0.0
			for k := range n + 1 {
				if low, high := intervalOf(Rate{Hits: k, Runs: n}); low <= p && p <= high {
					covered += probability(k, n, p)
				}
			}
			if covered < 1-alpha-1e-9 {
				t.Fatalf("%d runs, a rate of %.9f: covered in %.5f", n, p, covered)
			}
		}
	}
}

// intervalOf is the interval of a rate, worked out once.
func intervalOf(r Rate) (low, high float64) {
	known, ok := intervals[r]
	if !ok {
		known[0], known[1] = r.Interval()
		intervals[r] = known
	}
	return known[0], known[1]
}

var intervals = map[Rate][2]float64{}

// sequential is how often the interval misses the true rate if runs stop at the first look at which it is narrow enough. All paths are enumerated.
func sequential(p, half float64, most, shared int) (missed float64) {
	at := map[int]float64{0: 1} // the probability of so many hits, of paths that have not stopped
	looks := Looks(most)
	before := 0
	for i, n := range looks {
		next := map[int]float64{}
		for k, of := range at {
			for more := range n - before + 1 {
				next[k+more] += of * probability(more, n-before, p)
			}
		}
		at, before = map[int]float64{}, n
		for k, of := range next {
			r := Rate{Hits: k, Runs: n, Looks: shared}
			low, high := intervalOf(r)
			if high-low > 2*half && i < len(looks)-1 {
				at[k] = of
			} else if p < low || p > high {
				missed += of
			}
		}
	}
	return missed
}

// To look again and again, and to stop once the interval is narrow enough, does not void it.
func TestStoppingOnceKnownVoidsNoInterval(t *testing.T) {
	for _, most := range []int{5, 12, 40, 160} {
		for _, half := range []float64{0.05, 0.1, 0.15, 0.25} {
			looks := len(Looks(most))
			for _, p := range shares(5, looks) {
				if missed := sequential(p, half, most, looks); missed > alpha+1e-9 {
					t.Fatalf("at most %d runs, half width %.2f, a rate of %.9f: missed in %.5f", most, half, p, missed)
				}
			}
		}
	}
}

// Without the shares peeking would void it, so that the test above can fail.
func TestPeekingWithoutSharesWouldVoidIntervals(t *testing.T) {
	worst := 0.0
	for i := 1; i < 200; i++ {
		for _, half := range []float64{0.1, 0.15, 0.2, 0.25} {
			worst = max(worst, sequential(float64(i)/200, half, 160, 1))
		}
	}
	if worst <= alpha {
		t.Errorf("missed in %.4f at most", worst)
	}
}

// together is how often any of the intervals misses that many rates read together have, if each of them is p.
func together(p float64, n, many, among int) float64 {
	covered := 0.0
	for k := range n + 1 {
		if low, high := intervalOf(Rate{Hits: k, Runs: n, Among: among}); low <= p && p <= high {
			covered += probability(k, n, p)
		}
	}
	return 1 - math.Pow(covered, float64(many))
}

// Of many rates that are read together none is missed in 95 % or more. Without the shares one would be, so that the test can fail.
func TestIntervalsReadTogetherHoldAtOnce(t *testing.T) {
	const many = 16
	alone := 0.0
	for _, n := range []int{5, 10, 20} {
		for _, p := range shares(n, many) { // a share of looks is as wide as one of rates
			if missed := together(p, n, many, many); missed > alpha+1e-9 {
				t.Fatalf("%d runs, rates of %.9f: one of %d missed in %.5f", n, p, many, missed)
			}
			alone = max(alone, together(p, n, many, 1))
		}
	}
	if alone <= alpha {
		t.Errorf("without shares missed in %.5f at most", alone)
	}
}

// Runs that could not tell may have been hits, or not.
func TestWhateverTheUntoldRunsWouldHaveShown(t *testing.T) {
	r := Rate{Hits: 3, Runs: 10, Looks: 2, Among: 4}
	low, high := r.Whatever(5)
	least, _ := Rate{Hits: 3, Runs: 15, Looks: 2, Among: 4}.Interval()
	_, most := Rate{Hits: 8, Runs: 15, Looks: 2, Among: 4}.Interval()
	if low != least || high != most {
		t.Errorf("%.4f to %.4f, want %.4f to %.4f", low, high, least, most)
	}
	if low, high := (Rate{}).Whatever(20); low != 0 || high != 1 {
		t.Errorf("of nothing told: %.4f to %.4f", low, high)
	}
}

func TestBounds(t *testing.T) {
	for text, why := range map[string]string{
		">=0": "no number of runs", "<=1.5": "no number of runs", ">1": "no number of runs", ">=1": "no number of runs", "<=0": "no number of runs",
		"<=0.0001": "not even 0 of 10000", ">0.9999": "not even 10000 of 10000", "0.8": "no rate", "=0.8": "no rate", ">=80%": "no rate", ">=nan": "no rate", "": "no rate",
		">=-0.5": "no rate", ">=0.8, <=0.9": "no rate",
	} {
		if _, err := ParseBound(text); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%q: %v, want %q", text, err, why)
		}
	}
	for _, test := range []struct {
		bound      string
		hits, runs int
		want       Answer
		decide     int // about
	}{
		{">=0.8", 20, 20, Met, 20},
		{">=0.8", 10, 10, Undecided, 17},
		{">= 0.8", 9, 20, NotMet, 20},
		{">=0.8", 19, 20, Undecided, 26},
		{">=0.8", 0, 0, Undecided, 0},  // there is no share that could stay
		{">=.8", 16, 20, Undecided, 0}, // at the bound itself
		{"<=0.05", 0, 20, Undecided, 72},
		{"<=0.05", 0, 72, Met, 72},
		{"<=0.05", 0, 71, Undecided, 72},
		{"<=0.05", 5, 20, NotMet, 20},
		{"<0.05", 1, 20, Undecided, 0},
		{">0.5", 5, 5, Undecided, 6},
		{"<=0.001", 0, 20, Undecided, 3688},
		{"<=0.05", 480, 10_000, Undecided, 0}, // 41,000 runs would, more than a cell has
	} {
		b, err := ParseBound(test.bound)
		if err != nil {
			t.Fatal(err)
		}
		r := Rate{Hits: test.hits, Runs: test.runs}
		if got := b.Judge(r); got != test.want {
			t.Errorf("%s, %v: %s, want %s", b, r, got, test.want)
		}
		if got := b.RunsToDecide(r); got < test.decide*9/10 || got > test.decide*11/10 {
			t.Errorf("%s, %v: %d runs would decide, want about %d", b, r, got, test.decide)
		}
	}
}

// A number of runs that is said to be enough is: the rate is known, or decided, with that many.
func TestSoManyRunsAreEnough(t *testing.T) {
	for _, r := range []Rate{{0, 5, 6, 1}, {2, 5, 6, 1}, {5, 10, 6, 1}, {40, 80, 6, 1}, {1, 160, 6, 1}} {
		n := r.RunsToKnow(0.1)
		if at := (Rate{int(math.Round(r.Share() * float64(n))), n, 6, 1}); n < r.Runs || at.HalfWidth() > 0.1 {
			t.Errorf("%v: %d runs, which leave %.3f", r, n, at.HalfWidth())
		}
	}
}

func TestLooks(t *testing.T) {
	for most, want := range map[int]int{1: 1, 5: 1, 6: 2, 10: 2, 160: 6, 161: 7} {
		if looks := Looks(most); len(looks) != want || looks[len(looks)-1] != most {
			t.Errorf("%d runs are looked at after %v", most, looks)
		}
	}
}

func TestPercent(t *testing.T) {
	for share, want := range map[float64]string{0: "0 %", 0.15: "15 %", 0.004: "0.4 %", 0.9996: "99.96 %", 0.996: "99.6 %", 1: "100 %", 0.0051: "1 %"} {
		if got := Percent(share); got != want {
			t.Errorf("%v: %q, want %q", share, got, want)
		}
	}
}
