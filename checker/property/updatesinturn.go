package property

import (
	"iter"
	"slices"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
)

// eachInTurn passes on the updates of a key as long as they simply follow one another in the resource's own order, which is
// what a lock is for: an update that writes has found what the last one left, with no other write in between, and an update
// that only looks finds what was written last. It reports whether all of them did; what it has passed on before it says no
// means nothing.
//
// Then there is but one chain, in the order in which they are passed on, and the rest of registerOrder's rule is held
// against it as it grows: none returns before one placed earlier is called; those that only look at one value go by
// their calls. So nothing is kept of an update but the latest call so far. Anything else is for registerOrder, which keeps
// them all: a value may be found, or built on, at any time after it was written.
func eachInTurn(k *model.Lock, pass func(update) bool) bool {
	var left *model.Access               // the write by which the last update that writes leaves its value
	before, looked := int64(0), int64(0) // the latest call: of what comes before those that look at this value, and of those
	var buffer []*model.Access
	for _, a := range k.Handled {
		if a.F == history.Write && left != nil && left.Hold == a.Hold {
			continue // of the update that was passed on with its first write
		}
		if a.F == history.Read && (a.Outcome != history.OK || wrote(a.Hold)) {
			continue // no client saw it; or the update is passed on where it writes
		}
		if buffer = a.Hold.Effective(buffer[:0]); a.F == history.Read && a != buffer[0] {
			continue
		}
		u := updateOf(a.Hold, buffer)
		switch {
		case u.torn != "" || !u.looks() || u.read.Built != left || left == nil && u.read.Value != "":
			return false
		case u.ret < before || u.writes() && u.ret < looked || !u.writes() && u.call < looked:
			return false
		case !u.writes():
			looked = u.call
		case a != firstWrite(buffer):
			return false // it had written before, and another update since
		default:
			before, looked = max(before, looked, u.call), 0
			left = u.wrote
		}
		if !pass(u) {
			return true
		}
	}
	return true
}

// wrote reports whether the resource applied a write of a hold.
func wrote(h *model.Hold) bool {
	return slices.ContainsFunc(h.Accesses, func(a *model.Access) bool { return a.Applied && a.F == history.Write })
}

func firstWrite(accesses []*model.Access) *model.Access {
	for _, a := range accesses {
		if a.F == history.Write {
			return a
		}
	}
	return nil
}

// updatesInTurn are the updates of a key of which eachInTurn says yes.
func updatesInTurn(k *model.Lock) iter.Seq[*update] {
	return func(yield func(*update) bool) {
		eachInTurn(k, func(u update) bool { return yield(&u) })
	}
}

func eachOf(updates []update) iter.Seq[*update] {
	return func(yield func(*update) bool) {
		for i := range updates {
			if !yield(&updates[i]) {
				return
			}
		}
	}
}
