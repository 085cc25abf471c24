package property

import (
	"testing"

	"lockcheck/checker/history"
	"lockcheck/checker/testkit"
)

// The watchdog was awake until shortly before the last line that is a second older than the end: while the machine stands
// still there are no lines.
func TestAwakeUntil(t *testing.T) {
	for name, c := range map[string]struct {
		lines []float64
		want  float64
	}{
		"nothing":                        {nil, 0},
		"too short":                      {[]float64{0, 0.5, 0.9}, 0},
		"steady":                         {[]float64{0, 0.5, 1, 1.5, 2, 2.5, 3}, 1.9},
		"it stood still at the end":      {[]float64{0, 0.5, 1, 1.5, 9}, 1.4},
		"it stands still":                {[]float64{0, 0.5, 1, 1.5}, 0.4},
		"it stood still a second before": {[]float64{0, 0.5, 7, 7.5, 8, 8.5}, 7.4},
	} {
		s := &Watch{}
		var events []history.Event
		for _, at := range c.lines {
			events = append(events, history.Event{TimeNS: int64(at * 1e9)})
		}
		n := 0
		for range s.watched(testkit.Rows(events)) {
			n++
		}
		if n != len(events) || s.awakeUntil != int64(c.want*1e9) {
			t.Errorf("%s: %s, want %g s", name, history.Moment(s.awakeUntil), c.want)
		}
	}
}
