package nemesis

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"
)

// Range is a magnitude that is drawn from the seed: of lease TTLs, or of time in seconds. The zero Range was not given.
type Range struct {
	Low, High float64
	TTL       bool
}

func ttls(low, high float64) Range { return Range{low, high, true} }

// exactly is the range of one length of time. It was given, also if it is 0.
func exactly(d time.Duration) Range {
	if d == 0 {
		return Range{TTL: true}
	}
	return Range{d.Seconds(), d.Seconds(), false}
}

func (r Range) given() bool { return r != Range{} }

func (r Range) negated() Range { return Range{-r.High, -r.Low, r.TTL} }

// draw takes a magnitude from the range, in whole milliseconds.
func (r Range) draw(random *rand.Rand, ttl time.Duration) time.Duration {
	return time.Duration((r.Low + random.Float64()*(r.High-r.Low)) * float64(r.unit(ttl))).Round(time.Millisecond)
}

// String is the range as the grammar writes it.
func (r Range) String() string {
	text := number(r.Low)
	if r.High != r.Low {
		text += ".." + number(r.High)
	}
	if r.TTL {
		return text + "ttl"
	}
	return text + "s"
}

// number writes no exponents: the grammar has none.
func number(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

const (
	maxTTLs    = 1000
	maxSeconds = 365 * 24 * 3600
)

// parseRange reads "1.5ttl", "1..2ttl", "90s", "500ms", "1m30s", "200ms..2s".
func parseRange(text string) (Range, error) {
	low, high, ranged := strings.Cut(text, "..")
	if !ranged {
		high = low
	}
	upper, ttl, err := parseMagnitude(high)
	if err != nil {
		return Range{}, err
	}
	lower := upper
	if ranged {
		var lowTTL bool
		if number, plain := strconv.ParseFloat(low, 64); plain == nil { // the unit stands behind the second one only
			lower, lowTTL = number, ttl
		} else if lower, lowTTL, err = parseMagnitude(low); err != nil {
			return Range{}, err
		}
		if lowTTL != ttl || lower > upper {
			return Range{}, fmt.Errorf("%q is no range from less to more of one unit", text)
		}
	}
	limit := float64(maxSeconds)
	if ttl {
		limit = maxTTLs
	}
	if !(lower >= 0 && upper > 0 && upper <= limit) { // also refuses NaN
		return Range{}, fmt.Errorf("%q is not above 0 and at most %g TTLs or a year", text, float64(maxTTLs))
	}
	return Range{lower, upper, ttl}, nil
}

// parseMagnitude returns TTLs or seconds.
func parseMagnitude(text string) (amount float64, ttl bool, err error) {
	if number, ok := strings.CutSuffix(text, "ttl"); ok {
		amount, err = strconv.ParseFloat(number, 64)
		if err != nil {
			return 0, true, fmt.Errorf("%q is no number of TTLs: write 1.5ttl", text)
		}
		return amount, true, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, false, fmt.Errorf("%q is neither TTLs (1.5ttl) nor a time (90s, 500ms)", text)
	}
	return d.Seconds(), false, nil
}

// parsePercent reads "5%" and "-0.5%" as 0.05 and -0.005.
func parsePercent(text string) (float64, error) {
	number, ok := strings.CutSuffix(text, "%")
	amount, err := strconv.ParseFloat(number, 64)
	if !ok || err != nil {
		return 0, fmt.Errorf("%q is no percentage: write 5%%", text)
	}
	return math.Round(amount*1e6) / 1e8, nil
}

// percent writes a share with at most as many digits as it can be told from its neighbours by.
func percent(f float64) string { return strconv.FormatFloat(math.Round(f*1e8)/1e6, 'f', -1, 64) + "%" }
