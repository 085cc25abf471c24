package checker

import (
	"fmt"
	"os"
	"runtime"
	"testing"

	"lockcheck/checker/longrun"
	"lockcheck/checker/model"
)

// Judging a history by the exact algorithms takes memory for the clients and for the operations of unknown outcome, which
// stay open, and not for the history's length, as long as it is in the order of time and nothing is found: what is
// allocated while that is done, all garbage included, is the same for histories of very different lengths. (The model that
// is judged is made before, and is as long as the history.)
func TestJudgingTakesNoMoreMemoryForALongerHistory(t *testing.T) {
	lengths := []int{10_000, 100_000}
	if os.Getenv("LOCKCHECK_HISTORIES") != "" { // where there is time
		lengths = append(lengths, 1_000_000)
	}
	for _, test := range []longrun.Options{{}, {Clients: 40}, {Unknown: 0.05}} {
		t.Run(fmt.Sprintf("%+v", test), func(t *testing.T) {
			const (
				figures = 512 * 160 // bytes for those over time, of which a longer run has more up to a bound
				open    = 16        // bytes for each operation of unknown outcome
			)
			first := uint64(0)
			for _, n := range lengths {
				test.Operations = n
				m, c, err := model.Build(recordingFrom(test), "")
				if err != nil {
					t.Fatal(err)
				}
				used := allocated(func() { judgedAnew(t, m, c, Options{Unconfirmed: true, MaxFindings: DefaultMaxFindings}) })
				t.Logf("%d operations: %d bytes", n, used)
				if first == 0 {
					first = used
				}
				if used > 2*first+figures+open*uint64(c.Unknown()) {
					t.Errorf("judging %d operations allocates %d bytes; %d operations took %d", n, used, lengths[0], first)
				}
			}
		})
	}
}

// allocated is how many bytes are allocated while something is done, whether or not they are free again.
func allocated(do func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
