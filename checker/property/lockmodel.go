package property

import (
	"fmt"
	"io"
	"iter"
	"slices"
	"sync"

	"github.com/anishathalye/porcupine"

	"lockcheck/checker/internal/search"
	"lockcheck/checker/model"
)

// lockStep is what one operation does to a lock with an owner.
type lockStep int

const (
	stepGrant lockStep = iota // the lock is free and becomes the grant's
	stepStill                 // the lock is the grant's: promised or proven
	stepEnd                   // the lock is the grant's and becomes free: released, expired or taken away
	stepBusy                  // the lock is held
	stepMaybe                 // an acquire of unknown outcome: takes the lock if it is free, else nothing
	stepLeave                 // its end: gives it back if it has it, else nothing
)

// lockInput is one operation of the sequential lock. Grants are numbered from 1; the state is the number of the grant
// that has the lock, 0 while it is free.
type lockInput struct {
	step  lockStep
	grant int
	hold  *model.Hold
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

// lockOps turns tenures into operations: granted, where there is a core still held at its end, and ended. First and last
// clip the intervals to a window.
func lockOps(tenures []tenure, first, last int64) []porcupine.Operation {
	return appendLockOps(make([]porcupine.Operation, 0, 3*len(tenures)), tenures, first, last)
}

func appendLockOps(ops []porcupine.Operation, tenures []tenure, first, last int64) []porcupine.Operation {
	for i, s := range tenures {
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

// LockOperations are the grants of some locks for Porcupine, without windows: measurements give it a whole history in one search.
func LockOperations(locks []*model.Lock) (porcupine.Model, []porcupine.Operation) {
	var all []tenure
	for _, k := range locks {
		all = slices.AppendSeq(all, tenuresOf(k))
	}
	return lockModel, lockOps(all, 0, search.OpenEnd)
}

// lockWindow is how many tenures one window of a long history has. 32 to 64 are decided in well under a millisecond.
const lockWindow = 48

// confirmLock has Porcupine confirm that a key's tenures can be ordered: in one search if that is small enough, else in
// windows.
//
// The windows are cut at moments at which the order found by lockOrder has the lock free, and every interval is clipped
// to its window. Clipping only forbids orders, so orders of all windows one after the other are an order of the whole:
// a pass found this way is a pass. (Violations are confirmed on their own two tenures, unclipped.)
func (j *Judge) confirmLock(k *model.Lock, tenures iter.Seq[tenure], o *Outcome) {
	busy := j.busyOps(k, tenures)
	if j.unconfirmed {
		if len(busy) > 0 {
			o.Inconclusive = fmt.Sprintf("the failed tries on %s need a search, which was not asked for", k.Name)
		}
		return
	}
	verdict, n := search.Undecided, len(k.Grants)
	if n <= lockWindow || len(busy) > 0 && n+len(busy) <= search.MaxSearchOps {
		verdict = search.Ask(lockModel, append(lockOps(slices.Collect(tenures), 0, search.OpenEnd), busy...))
	}
	if verdict == search.Undecided && len(busy) == 0 {
		verdict = searchWindows(tenures, lockWindow)
	}
	switch {
	case verdict == search.Legal:
	case verdict == search.Illegal && len(busy) == 0:
		o.Defect = disagreementf("the lock operations of %s can be ordered by the former, and Porcupine finds no order", k.Name)
	case verdict == search.Illegal:
		o.add(k.Name, j.m.EndNS, incidentOn(k), func() model.Finding { return j.busyFinding(k) })
	case len(busy) > 0:
		o.Inconclusive = fmt.Sprintf("the failed tries on %s need a search beyond %d steps", k.Name, search.MaxSteps)
	default:
		o.Unconfirmed = fmt.Sprintf("not confirmed by Porcupine on %s: the search needs more than %d steps", k.Name, search.MaxSteps)
	}
}

// schedule orders tenures as lockOrder proves that they can be: cores as they are, each of the others at the last free
// moment up to its grant. They come in the order of their latest grants, and go on in that of the moments at which the
// lock is taken; nothing is held back but the core that lasts, because those that are granted inside it go before it.
func schedule(tenures iter.Seq[tenure]) iter.Seq2[int64, tenure] {
	return func(yield func(int64, tenure) bool) {
		var core tenure
		held := false // core is held back
		for s := range tenures {
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

// lockStretch is one window: tenures that are ordered between two moments at which the lock is free.
type lockStretch struct {
	tenures     []tenure
	first, last int64
	ops         []porcupine.Operation // that they were turned into
}

// stretches cuts tenures into windows of so many. The lists of spare ones serve the next.
func stretches(tenures iter.Seq[tenure], size int, spare *sync.Pool) iter.Seq[*lockStretch] {
	next := func(first int64) *lockStretch {
		w, _ := spare.Get().(*lockStretch)
		if w == nil {
			w = &lockStretch{}
		}
		w.tenures, w.first, w.last = w.tenures[:0], first, search.OpenEnd
		return w
	}
	return func(yield func(*lockStretch) bool) {
		w := next(0)
		for at, s := range schedule(tenures) {
			if len(w.tenures) == size {
				if w.last = at; !yield(w) {
					return
				}
				w = next(at)
			}
			w.tenures = append(w.tenures, s)
		}
		if len(w.tenures) > 0 {
			yield(w)
		}
	}
}

func searchWindows(tenures iter.Seq[tenure], size int) search.Answer {
	var spare sync.Pool
	return search.InTurn(stretches(tenures, size, &spare), func(w *lockStretch) search.Answer {
		defer spare.Put(w)
		w.ops = appendLockOps(w.ops[:0], w.tenures, w.first, w.last)
		if slices.ContainsFunc(w.ops, func(op porcupine.Operation) bool { return op.Call > op.Return }) {
			return search.Illegal // the cut went through an operation: the order it was made from is none
		}
		return search.Ask(lockModel, w.ops)
	})
}

// confirmConflict has Porcupine confirm that the tenures of a conflict cannot be ordered. It is given nothing else: an order
// that works still works without one of its grants, or without an acquire of unknown outcome, so two grants without an order
// have none among any others either.
func confirmConflict(key string, c lockConflict) error {
	tenures := []tenure{*c.then}
	if c.first != nil {
		tenures = append(tenures, *c.first)
	}
	if search.Ask(lockModel, lockOps(tenures, 0, search.OpenEnd)) != search.Illegal {
		return disagreementf("the grants of %s to %s exclude each other by the former, and Porcupine finds an order (grant %s)",
			key, tenures[len(tenures)-1].hold.Client, tenures[0].hold.ID)
	}
	return nil
}

// drawn is how many tenures around a conflict Porcupine is asked to draw.
const drawn = 16

// drawLock is a picture of the tenures around a conflict.
func (j *Judge) drawLock(k *model.Lock, tenures iter.Seq[tenure], c lockConflict) model.Window {
	from, to := c.then.lo, c.then.hi
	if c.first != nil {
		from, to = min(from, c.first.granted()), max(to, c.first.from)
	}
	var near []tenure
	for s := range tenures {
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
	return model.Window{Property: model.LockLinearizability, Key: k.Name, FromNS: from, ToNS: to, Draw: func(w io.Writer) error {
		return search.Draw(w, lockModel, lockOps(near, 0, max(j.m.EndNS, to)+1))
	}}
}
