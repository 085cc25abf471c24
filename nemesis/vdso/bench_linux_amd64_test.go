package vdso

import (
	"slices"
	"testing"
	"time"
)

// BenchmarkApply is the time from the call to the effect, on a process with little to do and on one with many busy threads.
func BenchmarkApply(b *testing.B) {
	for _, helper := range []string{"clock", "busy"} {
		b.Run(helper, func(b *testing.B) {
			cmd := self(helper)
			stdin, err := cmd.StdinPipe()
			if err != nil {
				b.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				b.Fatal(err)
			}
			defer func() { _ = stdin.Close(); _ = cmd.Process.Kill(); _ = cmd.Wait() }()
			time.Sleep(50 * time.Millisecond)
			for b.Loop() {
				if _, err := Apply(cmd.Process.Pid, Skew{Wall: Shift{Offset: time.Hour}, Expiry: time.Hour}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func logQuantiles(t *testing.T, times []time.Duration) {
	t.Helper()
	slices.Sort(times)
	t.Logf("stopped for %v (median), %v (longest of %d)", times[len(times)/2], times[len(times)-1], len(times))
}
