package compare

import (
	"fmt"
	"math"
)

// z is the normal quantile of a two-sided 95 % interval.
const z = 1.959964

// Wilson is the 95 % score interval of a share of which k of n were seen. It is used for zero of n, too, where its upper
// end z²/(n+z²) bounds what may have been missed; without any run everything is possible.
func Wilson(k, n int) (low, high float64) {
	if n <= 0 {
		return 0, 1
	}
	p, m := float64(k)/float64(n), float64(n)
	middle := (p + z*z/(2*m)) / (1 + z*z/m)
	half := z / (1 + z*z/m) * math.Sqrt(p*(1-p)/m+z*z/(4*m*m))
	low, high = max(middle-half, 0), min(middle+half, 1)
	switch k {
	case 0:
		low = 0
	case n:
		high = 1
	}
	return low, high
}

// ShareWords is a count of runs and its interval. None of n is a bound, and never "safe".
func ShareWords(k, n int) string {
	low, high := Wilson(k, n)
	switch {
	case n == 0:
		return "no run could tell"
	case k == 0:
		return fmt.Sprintf("0 of %d (at most %.0f %%)", n, math.Ceil(100*high))
	default:
		return fmt.Sprintf("%d of %d (%.0f–%.0f %%)", k, n, math.Floor(100*low), math.Ceil(100*high))
	}
}
