package delay

import (
	"math/rand/v2"
	"time"
)

// wander is a delay as a function of time. Between points that are drawn from the whole range it changes steadily, and at most as fast as
// time passes: so no packet is due before one that came earlier.
type wander struct {
	Amount
	random   *rand.Rand
	at       time.Time // of the point behind
	from, to time.Duration
}

func newWander(a Amount, random *rand.Rand) *wander {
	w := &wander{Amount: a, random: random}
	w.to = w.draw()
	return w
}

func (w *wander) draw() time.Duration {
	return w.Low() + time.Duration(w.random.Int64N(int64(2*w.Spread)+1))
}

// delay is how long a packet that comes now is held. Times must not go back.
func (w *wander) delay(now time.Time) time.Duration {
	if w.Spread == 0 {
		return w.Mean
	}
	step := 2 * w.Spread // from one bound to the other, in as much time
	if now.Sub(w.at) >= step {
		w.at, w.from, w.to = now, w.to, w.draw()
	}
	return w.from + time.Duration(float64(w.to-w.from)*float64(now.Sub(w.at))/float64(step))
}
