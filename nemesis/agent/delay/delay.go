// Package delay holds packets of the network namespace that the calling process is in back for a while, and loses none.
//
//	            rule of nftables          queue of the kernel                    when it is due
//	packet in ────────────────────► held there, by its number ── verdict "accept" ─────────────► process
//	packet out, TCP ──────────────► copied here, and dropped ─── raw socket, with a mark ──────► wire
//	packet out, other ────────────► held there, by its number ── verdict "accept" ─────────────► wire
//
// The kernel's own delay, sch_netem, is what is used where it has no such queues (see emulated). Queues come first because with them delays of one
// way add up, what is held can be let go at once, how late each packet was is known, and they end with this process: rules go with the process that
// made them, and a queue that no process has bound lets packets pass. Nothing is left after a SIGKILL, but for what was held at that moment, which
// is lost. Unlike packets that come back from a TUN device, those that a queue lets go are still the kernel's own.
//
// A TCP packet out is not held in the kernel because its connection would know: it sends no more than about two packets of a connection as
// long as none has left the machine ("TCP small queues"), and repeats none. Behind a wire it does both.
//
// A datagram out is held in the kernel, and fills its socket's buffer as long: one that has some 270 small ones on their way at a time waits.
//
// Packets of one way keep their order, as on most wires: where a delay varies, it wanders between its bounds.
package delay

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// Amount is how long packets are held: from Mean - Spread to Mean + Spread.
type Amount struct {
	Mean   time.Duration `json:"mean_ns"`
	Spread time.Duration `json:"spread_ns"` // 0 or more, less than Mean
}

// Low and High are its bounds.
func (a Amount) Low() time.Duration  { return a.Mean - a.Spread }
func (a Amount) High() time.Duration { return a.Mean + a.Spread }

// Tolerance is by how much a packet may be held longer than was asked for: 10 % or 2 ms, whichever is more.
func (a Amount) Tolerance() time.Duration { return max(a.High()/10, 2*time.Millisecond) }

// Max bounds delays: what is held for longer would outlast most runs.
const Max = time.Minute

// Check refuses what cannot be.
func (a Amount) Check() error {
	switch {
	case a.Mean < time.Millisecond || a.High() > Max:
		return fmt.Errorf("a delay of %v is not between 1ms and %v", a, Max)
	case a.Spread < 0 || a.Low() <= 0:
		return fmt.Errorf("a delay of %v would be less than nothing at times: let the spread be less than %v", a, a.Mean)
	}
	return nil
}

func (a Amount) String() string {
	if a.Spread == 0 {
		return a.Mean.String()
	}
	return fmt.Sprintf("%v±%v", a.Mean, a.Spread)
}

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
