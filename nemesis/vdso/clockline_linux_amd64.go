package vdso

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"time"

	"golang.org/x/sys/unix"
)

// line is how one timescale is bent: target + (T - base) * rate / 2^fractionBits, until end. Times are nanoseconds of the
// timescale's own clock, but the wall clock's end, which is of CLOCK_MONOTONIC.
type line struct {
	base, target int64
	rate         int64
	end          int64
}

const (
	trueRate = 1 << fractionBits
	never    = math.MaxInt64
)

// straight is a line that changes nothing but what a clock has gained already.
func straight(base, target int64) line { return line{base, target, trueRate, never} }

// set is one line a timescale.
type set [timescales]line

// identity is the set of a process that was never changed.
func identity() (s set) {
	for i := range s {
		s[i] = straight(0, 0)
	}
	return s
}

func (s set) encode() []byte {
	var b []byte
	for _, l := range s {
		for _, word := range [...]int64{l.base, l.target, l.rate, l.end} { // the order of lineBase and the others
			b = binary.LittleEndian.AppendUint64(b, uint64(word))
		}
	}
	return b
}

func decodeSet(b []byte) (s set) {
	for i := range s {
		word := func(offset int) int64 { return int64(binary.LittleEndian.Uint64(b[i*lineSize+offset:])) }
		s[i] = line{word(lineBase), word(lineTarget), word(lineRate), word(lineEnd)}
	}
	return s
}

// instant is one true time on all timescales.
type instant [timescales]int64

// now asks the kernel, by system calls: should this process's own vDSO be changed, it does not matter.
func now() (instant, error) {
	var at instant
	for scale, id := range [timescales]int32{
		wall: unix.CLOCK_REALTIME, monotonic: unix.CLOCK_MONOTONIC, raw: unix.CLOCK_MONOTONIC_RAW, boot: unix.CLOCK_BOOTTIME,
	} {
		var ts unix.Timespec
		if err := unix.ClockGettime(id, &ts); err != nil {
			return at, fmt.Errorf("clock_gettime(%d): %w", id, err)
		}
		at[scale] = ts.Nano()
	}
	return at, nil
}

// shown is what a clock shows at an instant, calculated as the stub does.
func (s set) shown(scale timescale, at instant) int64 {
	l, t, after := s[scale], at[scale], int64(0)
	if s.ended(scale, at) {
		if scale == wall {
			return t
		}
		t, after = l.end, t-l.end
	}
	delta := t - l.base
	if delta < 0 && scale != wall {
		delta = 0
	}
	return l.target + scaled(delta, l.rate) + after
}

func (s set) ended(scale timescale, at instant) bool {
	if scale == wall {
		return at[monotonic] >= s[scale].end
	}
	return at[scale] >= s[scale].end
}

// scaled is delta * rate / 2^fractionBits, rounded down; the rate is not negative.
func scaled(delta, rate int64) int64 {
	high, low := bits.Mul64(uint64(delta), uint64(rate))
	if delta < 0 {
		high -= uint64(rate) // of a signed factor
	}
	return int64(high<<(64-fractionBits) | low>>fractionBits)
}

// latest is the last time, 2116, that a process is shown at the beginning of a skew. It leaves room for MaxDrift over
// MaxExpiry many times over.
const latest = math.MaxInt64 / 2

// next is the set that gives the process a skew from an instant on.
func (s set) next(at instant, skew Skew) (set, error) {
	var n set
	for i := range n {
		scale, shift, from, end := timescale(i), skew.Monotonic, s.shown(timescale(i), at), at[i]+int64(skew.Expiry)
		if scale == wall {
			shift, from, end = skew.Wall, at[wall], at[monotonic]+int64(skew.Expiry)
		}
		target := from + int64(shift.Offset)
		if shift.Offset > 0 && (target < from || target > latest) {
			return s, fmt.Errorf("%w: an offset of %v leads beyond the year 2116", ErrInvalid, shift.Offset)
		}
		if target < 0 {
			return s, fmt.Errorf("%w: an offset of %v leads before the year 1970", ErrInvalid, shift.Offset)
		}
		n[i] = line{at[i], target, rateOf(shift.Drift), end}
	}
	return n, nil
}

// healed is the set without a skew: the wall clock true, a monotonic clock going on from what it shows.
func (s set) healed(at instant) set {
	var n set
	for i := range n {
		n[i] = straight(at[i], s.shown(timescale(i), at))
	}
	n[wall] = straight(at[wall], at[wall])
	return n
}

func rateOf(drift float64) int64 { return int64(math.Round((1 + drift) * trueRate)) }

// drift of a clock at an instant.
func (s set) drift(scale timescale, at instant) float64 {
	if s.ended(scale, at) {
		return 0
	}
	return float64(s[scale].rate)/trueRate - 1
}

// state is what the process sees at an instant.
func (s set) state(at instant) State {
	shift := func(scale timescale) Shift {
		return Shift{time.Duration(s.shown(scale, at) - at[scale]), s.drift(scale, at)}
	}
	state := State{Patched: true, Wall: shift(wall), Monotonic: shift(monotonic), Changed: time.Duration(s[monotonic].base)}
	switch end := s[monotonic].end; {
	case end == never:
	case end <= at[monotonic]:
		state.Expired = true
	default:
		state.Remaining = time.Duration(end - at[monotonic])
	}
	return state
}
