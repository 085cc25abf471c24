package checker

import (
	"fmt"
	"io"
	"iter"
	"slices"
	"sync"

	"github.com/anishathalye/porcupine"
)

// lockStep is what one operation does to a lock with an owner.
type lockStep int

const (
	stepGrant lockStep = iota // the lock is free and becomes the grant's
	stepStill                 // the lock is the grant's: promised or proven
	stepEnd                   // the lock is the grant's and becomes free: released, expired or taken away
	stepBusy                  // the lock is somebody's
	stepMaybe                 // an acquire of unknown outcome: takes the lock if it is free, else nothing
	stepLeave                 // its end: gives it back if it has it, else nothing
)

// lockInput is one operation of the sequential lock. Grants are numbered from 1; the state is the number of the grant
// that has the lock, 0 while it is free.
type lockInput struct {
	step  lockStep
	grant int
	hold  *Hold
}

// lockModel is a lock with an owner whose grants end at moments of their own. When a grant may end, and until when it
// must have ended, is in the intervals of the operations; the model itself knows nothing of time. Optional operations
// take effect whenever they can: one that should rather do nothing is ordered where it cannot, or at the very end.
var lockModel = porcupine.Model{
	Init: func() any { return 0 },
	Step: func(state, input, _ any) (bool, any) {
		holder, in := state.(int), input.(lockInput)
		switch in.step {
		case stepGrant:
			return holder == 0, in.grant
		case stepStill:
			return holder == in.grant, holder
		case stepEnd:
			return holder == in.grant, 0
		case stepBusy:
			return holder != 0, holder
		case stepMaybe:
			if holder == 0 {
				return true, in.grant
			}
			return true, holder
		default:
			if holder == in.grant {
				return true, 0
			}
			return true, holder
		}
	},
	Hash: func(state any) uint64 { return uint64(state.(int)) * 0x9e3779b97f4a7c15 },
	DescribeOperation: func(input, _ any) string {
		in := input.(lockInput)
		return fmt.Sprintf([...]string{
			stepGrant: "granted to %s", stepStill: "still %s's", stepEnd: "%s's ends", stepBusy: "busy, %s is told",
			stepMaybe: "perhaps granted to %s", stepLeave: "perhaps %s's ends",
		}[in.step], in.hold.Client+"/"+in.hold.ID)
	},
	DescribeState: func(state any) string {
		if state.(int) == 0 {
			return "free"
		}
		return fmt.Sprintf("grant %d", state.(int))
	},
}

// lockOps turns stays into operations: granted, where there is a core still held at its end, and ended. First and last
// clip the intervals to a window.
func lockOps(stays []stay, first, last int64) []porcupine.Operation {
	return appendLockOps(make([]porcupine.Operation, 0, 3*len(stays)), stays, first, last)
}

func appendLockOps(ops []porcupine.Operation, stays []stay, first, last int64) []porcupine.Operation {
	for i, s := range stays {
		add := func(step lockStep, from, to int64) {
			ops = append(ops, porcupine.Operation{
				ClientId: 3*i + int(step), // an end may be open while its client goes on: a line of its own
				Input:    lockInput{step, i + 1, s.hold}, Call: max(from, first), Return: min(to, last),
			})
		}
		add(stepGrant, s.lo, s.hi)
		ended := s.lo
		if s.hasCore() {
			add(stepStill, s.from, s.from)
		} else {
			ended = max(s.lo, s.from)
		}
		add(stepEnd, min(ended, s.by), s.by)
	}
	return ops
}

// lockWindow is how many stays one window of a long history has. 32 to 64 are decided in well under a millisecond.
const lockWindow = 48

// confirmLock has Porcupine confirm that a key's stays can be ordered: in one search if that is small enough, else in
// windows.
//
// The windows are cut at moments at which the order found by lockOrder has the lock free, and every interval is clipped
// to its window. Clipping only forbids orders, so orders of all windows one after the other are an order of the whole:
// a pass found this way is a pass. (Violations are confirmed on their own two stays, unclipped.)
func (j *judge) confirmLock(k *keyView, stays iter.Seq[stay], o *outcome) {
	busy := j.busyOps(k, stays)
	if j.opts.Unconfirmed {
		if len(busy) > 0 {
			o.inconclusive = fmt.Sprintf("the failed tries on %s need a search, which was not asked for", k.name)
		}
		return
	}
	verdict, n := undecided, len(k.grants)
	if n <= lockWindow || len(busy) > 0 && n+len(busy) <= maxSearchOps {
		verdict = search(lockModel, append(lockOps(slices.Collect(stays), 0, openEnd), busy...))
	}
	if verdict == undecided && len(busy) == 0 {
		verdict = searchWindows(stays, lockWindow)
	}
	switch {
	case verdict == legal:
	case verdict == illegal && len(busy) == 0:
		o.defect = disagreementf("the lock operations of %s can be ordered by the former, and Porcupine finds no order", k.name)
	case verdict == illegal:
		o.hits = append(o.hits, hit{k.name, j.m.EndNS, func() Finding { return j.busyFinding(k) }})
	case len(busy) > 0:
		o.inconclusive = fmt.Sprintf("the failed tries on %s need a search beyond %d steps", k.name, maxSteps)
	default:
		o.unconfirmed = fmt.Sprintf("not confirmed by Porcupine on %s: the search needs more than %d steps", k.name, maxSteps)
	}
}

// schedule orders stays as lockOrder proves that they can be: cores as they are, each of the others at the last free
// moment up to its grant. They come in the order of their latest grants, and go on in that of the moments at which the
// lock is taken; nothing is held back but the core that lasts, because those that are granted inside it go before it.
func schedule(stays iter.Seq[stay]) iter.Seq2[int64, stay] {
	return func(yield func(int64, stay) bool) {
		var core stay
		held := false // core is held back
		for s := range stays {
			at := s.granted()
			switch {
			case held && core.from > at && !s.hasCore():
				at = core.granted()
			case held:
				if held = false; !yield(core.granted(), core) {
					return
				}
			}
			if s.hasCore() {
				core, held = s, true
			} else if !yield(at, s) {
				return
			}
		}
		if held {
			yield(core.granted(), core)
		}
	}
}

// lockStretch is one window: stays that are ordered between two moments at which the lock is free.
type lockStretch struct {
	stays       []stay
	first, last int64
	ops         []porcupine.Operation // that they were turned into
}

// stretches cuts stays into windows of so many. The lists of spare ones serve the next.
func stretches(stays iter.Seq[stay], size int, spare *sync.Pool) iter.Seq[*lockStretch] {
	next := func(first int64) *lockStretch {
		w, _ := spare.Get().(*lockStretch)
		if w == nil {
			w = &lockStretch{}
		}
		w.stays, w.first, w.last = w.stays[:0], first, openEnd
		return w
	}
	return func(yield func(*lockStretch) bool) {
		w := next(0)
		for at, s := range schedule(stays) {
			if len(w.stays) == size {
				if w.last = at; !yield(w) {
					return
				}
				w = next(at)
			}
			w.stays = append(w.stays, s)
		}
		if len(w.stays) > 0 {
			yield(w)
		}
	}
}

func searchWindows(stays iter.Seq[stay], size int) answer {
	var spare sync.Pool
	return searchInTurn(stretches(stays, size, &spare), func(w *lockStretch) answer {
		defer spare.Put(w)
		w.ops = appendLockOps(w.ops[:0], w.stays, w.first, w.last)
		if slices.ContainsFunc(w.ops, func(op porcupine.Operation) bool { return op.Call > op.Return }) {
			return illegal // the cut went through an operation: the order it was made from is none
		}
		return search(lockModel, w.ops)
	})
}

// confirmConflict has Porcupine confirm that the stays of a conflict cannot be ordered. It is given nothing else: whoever
// takes a grant away from an order that works, or an acquire of unknown outcome, leaves an order that works, so two
// grants without an order have none among any others either.
func confirmConflict(key string, c lockConflict) error {
	stays := []stay{*c.then}
	if c.first != nil {
		stays = append(stays, *c.first)
	}
	if search(lockModel, lockOps(stays, 0, openEnd)) != illegal {
		return disagreementf("the grants of %s to %s exclude each other by the former, and Porcupine finds an order (grant %s)",
			key, stays[len(stays)-1].hold.Client, stays[0].hold.ID)
	}
	return nil
}

// drawn is how many stays around a conflict Porcupine is asked to draw.
const drawn = 16

// drawLock is a picture of the stays around a conflict.
func (j *judge) drawLock(k *keyView, stays iter.Seq[stay], c lockConflict) Window {
	from, to := c.then.lo, c.then.hi
	if c.first != nil {
		from, to = min(from, c.first.granted()), max(to, c.first.from)
	}
	var near []stay
	for s := range stays {
		if len(near) == drawn-2 {
			break
		}
		if s.hold != c.then.hold && (c.first == nil || s.hold != c.first.hold) && s.hi >= from && s.lo <= to && !s.impossible() {
			near = append(near, s)
		}
	}
	near = append(near, *c.then)
	if c.first != nil {
		near = append(near, *c.first)
	}
	return Window{Property: LockLinearizability, Key: k.name, FromNS: from, ToNS: to, Draw: func(w io.Writer) error {
		return draw(w, lockModel, lockOps(near, 0, max(j.m.EndNS, to)+1))
	}}
}
