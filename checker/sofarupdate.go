package checker

import (
	"slices"

	"lockcheck/checker/history"
)

// stableUpdateConflict: a hold whose own accesses contradict one another, or one that found what another hold has overwritten
// itself; or two that were built on the same value, of which the one that was over first stays the first.
func (j *judge) stableUpdateConflict() func(*Finding) bool {
	return func(f *Finding) bool {
		holds := j.soFar.named(j.m, f)
		updates := make([]update, len(holds))
		for i, h := range holds {
			if h.unanswered() {
				return false
			}
			updates[i] = updateOf(h, h.effective(nil))
		}
		u := &updates[0]
		if len(updates) == 1 {
			return u.torn != "" || u.foundHalfDone()
		}
		v := &updates[1]
		if v.ret < u.ret {
			u, v = v, u
		}
		return u.rivals(v) && u.ret < never && j.over(u.hold) && u.hold.resolved()
	}
}

// rivals reports whether two updates were built on one value.
func (u *update) rivals(v *update) bool {
	if !u.looks() || !u.writes() || !v.looks() || !v.writes() {
		return false
	}
	return u.read.built == v.read.built && u.read.Value == v.read.Value
}

// foundHalfDone reports whether an update found a value that its writer had overwritten itself, in the same hold.
func (u *update) foundHalfDone() bool {
	if !u.looks() || u.read.built == nil || u.read.built.place == 0 {
		return false
	}
	by := u.read.built.Hold
	wrote := updateOf(by, by.effective(nil)).wrote
	return by != u.hold && wrote != nil && wrote != u.read.built
}

// resolved reports whether it is known of every access of a hold whether the resource has done it.
func (h *Hold) resolved() bool {
	return !slices.ContainsFunc(h.Accesses, func(a *Access) bool { return a.handled == 0 && a.Outcome != history.Fail })
}
