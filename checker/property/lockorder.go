package property

import (
	"cmp"
	"iter"
	"math"
	"slices"

	"lockcheck/checker/model"
)

// tenure is what one grant asks of the order of lock operations (J6). It was granted at some moment of [lo, hi] and ended
// at some later one, no sooner than from and no later than by. All four are ends of closed intervals: at equal stamps
// everything is concurrent, so two tenures may touch but not overlap.
//
//	lo ............ hi                    from ............ by
//	asked for       read          protected, proven         known to be gone
//	                 |======= core ========|
//
// In any order, the service held the grant all through the core. A tenure without a core only needs a moment.
type tenure struct {
	hold *model.Hold
	lo   int64 // the winning attempt was sent no earlier
	hi   int64 // the grant was read
	from int64 // it cannot have ended before: protected (R5) or proven (R6)
	by   int64 // it had ended by then: a release answered, a session's confirmed end; never if nothing says so
}

// granted is when the grant was made at the latest. The end of the session bounds it, too: it is what catches a lock
// handed to a client whose lease was already gone.
func (s *tenure) granted() int64 { return min(s.hi, s.by) }

func (s *tenure) hasCore() bool { return s.from > s.granted() }

// impossible reports whether no order at all explains this grant taken alone: it had to last longer than it can have
// lasted, or was asked for after it was known to be gone.
func (s *tenure) impossible() bool { return s.from > s.by || s.lo > s.by }

// window is where a tenure without a core needs one free moment. To be granted before from would mean to hold the lock up
// to there, that moment included; so the moments from there on are all that have to be looked at.
func (s *tenure) window() (lo, hi int64) { return max(s.lo, s.from), s.granted() }

// tenuresOf are the grants of a key as the service's properties see them, in the order of their completions. They are made
// as they are ranged over, and none is kept. Acquires and releases of unknown outcome are optional: nothing observes that a
// lock is held but by another's failed try, so leaving them out is the best choice for all others at once, and the answer
// is exact without them.
func tenuresOf(k *model.Lock) iter.Seq[tenure] {
	return func(yield func(tenure) bool) {
		for _, h := range k.Grants {
			s := tenure{hold: h, lo: h.StartNS(), hi: h.DoneNS, from: max(h.LeaseNS, h.ProvenNS), by: model.Never}
			if h.EndedNS != 0 {
				s.by = h.EndedNS
			}
			for _, a := range h.Attempts {
				if a.Gone() && a.InvokeNS >= h.DoneNS {
					s.by = min(s.by, a.DoneNS)
				}
			}
			if !yield(s) {
				return
			}
		}
	}
}

// inTurn are tenures in the order of their latest grants. Mostly that is the order they come in, and nothing is kept of them;
// only where a client was granted the lock under a session that ended before the grant was read is it another.
func inTurn(tenures iter.Seq[tenure]) iter.Seq[tenure] {
	last := int64(math.MinInt64)
	for s := range tenures {
		if s.granted() < last {
			sorted := slices.Collect(tenures)
			slices.SortStableFunc(sorted, func(a, b tenure) int { return cmp.Compare(a.granted(), b.granted()) })
			return slices.Values(sorted)
		}
		last = s.granted()
	}
	return tenures
}

// lockConflict is a proof that no order exists: one tenure that is impossible by itself, or two that exclude each other.
type lockConflict struct {
	atNS  int64
	first *tenure // nil for one that is impossible by itself
	then  *tenure
}

// lockOrder decides exactly whether an order of the tenures exists: the cores must not overlap, and each tenure without a
// core must find a free moment in its window. The tenures come in the order of their latest grants (inTurn).
//
// Necessary: every core is held throughout, and a granted lock is granted at a free moment. Sufficient: grant at hi and
// end at from wherever there is a core; these are the shortest tenures possible, so they leave the most room, and all
// moments not inside a core are free. A window that meets no such moment lies inside one core: disjoint open intervals
// leave the points between them free. So a conflict is never more than two tenures.
//
// One pass does it, and of the tenures seen nothing is kept but the cores that may still last (lasting): at most one as
// long as nothing is violated, and one more for each core that is granted inside another.
func lockOrder(tenures iter.Seq[tenure]) []lockConflict {
	var impossible, overlapping, unplaced []lockConflict
	var cores lasting
	for s := range tenures {
		now := s.granted()
		if s.impossible() {
			impossible = append(impossible, lockConflict{atNS: now, then: keep(s)})
			continue
		}
		cores.over(now)
		if !s.hasCore() {
			lo, hi := s.window()
			if core := cores.longest(lo); core != nil && core.from > hi {
				unplaced = append(unplaced, lockConflict{hi, keep(*core), keep(s)})
			}
			continue
		}
		if core := cores.longest(model.Never); core != nil && core.from > now {
			overlapping = append(overlapping, lockConflict{now, keep(*core), keep(s)})
		}
		cores.add(s)
	}
	return slices.Concat(impossible, overlapping, unplaced)
}

// lost is the grant that was lost: the one that another was granted beside.
func (c *lockConflict) lost() *tenure {
	if c.first != nil {
		return c.first
	}
	return c.then
}

// keep makes a tenure that outlives the pass over them.
func keep(s tenure) *tenure { return &s }

// lasting are cores that have not ended yet, of which each was granted later than the one before it, and lasts longer. One
// that was granted later and does not last longer is left out: all that it would prove, the longer one proves.
type lasting struct {
	cores []tenure
	ended int // so many of the first are of no use any more
}

// over drops the cores that have ended by now: what is granted from now on cannot lie inside them.
func (l *lasting) over(now int64) {
	for l.ended < len(l.cores) && l.cores[l.ended].from <= now {
		l.ended++
	}
	if l.ended > len(l.cores)/2 { // the list is only moved once half of it is of no use
		l.cores = l.cores[:copy(l.cores, l.cores[l.ended:])]
		l.ended = 0
	}
}

// longest is, of the cores granted before a moment, the one that lasts longest; nil if none of them lasts still.
func (l *lasting) longest(before int64) *tenure {
	going := l.cores[l.ended:]
	n, _ := slices.BinarySearchFunc(going, before, func(c tenure, t int64) int { return cmp.Compare(c.granted(), t) })
	if n == 0 {
		return nil
	}
	return &going[n-1]
}

func (l *lasting) add(core tenure) {
	if last := l.longest(model.Never); last == nil || last.from < core.from {
		l.cores = append(l.cores, core)
	}
}
