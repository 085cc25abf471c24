// Package testkit has what tests of all rooms of the checker use: random histories, and how many of them to try.
package testkit

import (
	"fmt"
	"iter"
	"math/big"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"lockcheck/checker/internal/simulated"
)

// Histories is how many histories a randomised test looks at: LOCKCHECK_HISTORIES, or else a tenth of the whole, and a hundredth
// under the race detector, which makes everything ten times slower and looks for other things. scripts/soak looks at more than the whole.
func Histories(t testing.TB, whole int) int {
	t.Helper()
	if text := os.Getenv("LOCKCHECK_HISTORIES"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			t.Fatalf("LOCKCHECK_HISTORIES is %q; a number of histories is needed", text)
		}
		return n
	}
	return max(whole/oneIn, 1)
}

// InParallel does something for each seed, on all processors, until one fails. It reports the pace.
func InParallel(t *testing.T, n int, do func(seed uint64) error) {
	t.Helper()
	began := time.Now()
	var next, done atomic.Int64
	var failed atomic.Pointer[error]
	var all sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		all.Go(func() {
			for seed := next.Add(1); seed <= int64(n) && failed.Load() == nil; seed = next.Add(1) {
				if err := do(uint64(seed)); err != nil {
					err = fmt.Errorf("seed %d: %w", seed, err)
					failed.CompareAndSwap(nil, &err)
				}
				done.Add(1)
			}
		})
	}
	all.Wait()
	if err := failed.Load(); err != nil {
		t.Fatal(*err)
	}
	t.Logf("%d histories, %.0f a second", n, float64(n)/time.Since(began).Seconds())
}

// AnyWorld draws a world without a defect.
func AnyWorld(seed uint64) simulated.Options {
	r := rand.New(rand.NewPCG(seed, 1))
	o := simulated.Options{Seed: seed, Service: simulated.Service(r.IntN(2)), Tokens: r.IntN(3) > 0, Guard: simulated.Guard(r.IntN(3)),
		Clients: 2 + r.IntN(4), Keys: 1 + r.IntN(2), LoadNS: 3e9 + r.Int64N(7e9), Faults: simulated.All}
	o.Fenced = o.Tokens && r.IntN(2) == 0
	if r.IntN(2) == 0 {
		some := func() bool { return r.IntN(2) == 0 }
		o.Faults = simulated.Faults{Pause: some(), Cut: some(), Kill: some(), Stall: some(), Slow: some(), Cancel: some(), GiveUp: some(), Clock: some()}
	}
	if o.CAS = !o.Fenced && r.IntN(3) == 0; o.CAS {
		o.OneWrite = r.IntN(2) == 0
	}
	return o
}

// Tally counts what a set of worlds went through, so that a test can tell that it saw something.
type Tally struct {
	sync.Mutex
	N map[string]int64
}

// Add counts n more of a name.
func (c *Tally) Add(name string, n int64) {
	c.Lock()
	defer c.Unlock()
	if c.N == nil {
		c.N = map[string]int64{}
	}
	c.N[name] += n
}

// Higher compares tokens as numbers; false if one of them has none.
func Higher(a, b string) bool {
	x, okX := new(big.Int).SetString(a, 10)
	y, okY := new(big.Int).SetString(b, 10)
	return okX && okY && x.Cmp(y) > 0
}

// Rows is a sequence of all of a list, without an error.
func Rows[T any](all []T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for _, row := range all {
			if !yield(row, nil) {
				return
			}
		}
	}
}
