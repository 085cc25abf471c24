package history

import (
	"fmt"
	"math"
)

// Moment is a moment of a run, given in nanoseconds since its start, for people: seconds since its start, to the millisecond.
func Moment(ns int64) string { return fmt.Sprintf("%.3f s", float64(ns)/1e9) }

// Duration is a length of time, given in nanoseconds, in the unit that people would choose: "1.5 ms", "12.3 s". Findings and
// reports use it for every duration that was measured; a line of progress shows whole seconds, and what is left is an estimate in words.
func Duration(ns int64) string {
	abs := math.Abs(float64(ns))
	switch {
	case abs >= 10e9:
		return fmt.Sprintf("%.1f s", float64(ns)/1e9)
	case abs >= 1e9:
		return fmt.Sprintf("%.2f s", float64(ns)/1e9)
	case abs >= 100e6:
		return fmt.Sprintf("%.0f ms", float64(ns)/1e6)
	case abs >= 1e6:
		return fmt.Sprintf("%.1f ms", float64(ns)/1e6)
	case abs >= 1e3:
		return fmt.Sprintf("%.0f µs", float64(ns)/1e3)
	}
	if ns == 0 {
		return "0 s"
	}
	return fmt.Sprintf("%d ns", ns)
}
