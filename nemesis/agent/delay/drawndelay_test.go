package delay

import (
	"math/rand/v2"
	"testing"
	"time"
)

// Whenever packets come, none is due before one that came earlier, and each is held for a time within the bounds.
func TestADelayThatWandersKeepsOrderAndBounds(t *testing.T) {
	for seed := range uint64(50) {
		random := rand.New(rand.NewPCG(seed, 1))
		a := Amount{Mean: 300 * time.Millisecond, Spread: 100 * time.Millisecond}
		w := newWander(a, random)
		now, last := time.Unix(1000, 0), time.Time{}
		least, most := a.High(), a.Low()
		for range 2000 {
			now = now.Add(time.Duration(random.Int64N(int64(60 * time.Millisecond))))
			d := w.delay(now)
			if due := now.Add(d); due.Before(last) {
				t.Fatalf("seed %d: a packet is due %v before one that came earlier", seed, last.Sub(due))
			} else {
				last = due
			}
			least, most = min(least, d), max(most, d)
		}
		if least < a.Low() || most > a.High() || most-least < a.Spread {
			t.Errorf("seed %d: delays are from %v to %v, want about all of %v", seed, least, most, a)
		}
	}
}

func TestAmountsThatCannotBe(t *testing.T) {
	for _, c := range []struct {
		amount Amount
		fine   bool
	}{
		{Amount{Mean: time.Millisecond}, true},
		{Amount{Mean: 300 * time.Millisecond, Spread: 100 * time.Millisecond}, true},
		{Amount{}, false},
		{Amount{Mean: 50 * time.Millisecond, Spread: 100 * time.Millisecond}, false},
		{Amount{Mean: 50 * time.Millisecond, Spread: 50 * time.Millisecond}, false},
		{Amount{Mean: 50 * time.Millisecond, Spread: -1}, false},
		{Amount{Mean: Max, Spread: time.Second}, false},
	} {
		if err := c.amount.Check(); (err == nil) != c.fine {
			t.Errorf("%v: %v", c.amount, err)
		}
	}
}
