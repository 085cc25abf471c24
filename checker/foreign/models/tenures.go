package models

import (
	"cmp"
	"fmt"
	"slices"

	"lockcheck/checker/foreign/jepsen"
)

// hold is one hold of a lock with owners: its acquire, and its release if there was one.
//
//	call ....... return                    call ....... return
//	   acquire     |======== core ===========|   release
//
// In any order, the owner has the lock all through the core.
type hold struct {
	acquire *op
	release *op // nil: never released
}

func (h *hold) from() int64 { return h.acquire.ret }

func (h *hold) to() int64 {
	if h.release == nil {
		return jepsen.Never
	}
	return h.release.call
}

func (h *hold) ops() []*op {
	if h.release == nil {
		return []*op{h.acquire}
	}
	return []*op{h.acquire, h.release}
}

// tenures decides a lock with owners where each owner does one thing at a time, and nothing more after an operation of
// unknown outcome, as Jepsen's processes do. Elsewhere it is not ok.
//
// Then an owner's acquires and releases have to take turns by themselves, and each pair is a hold with a core. An acquire
// of unknown outcome is its owner's last operation: no release depends on it, so leaving it out is the best choice for
// all others. A release of unknown outcome is best done at once.
//
// An order exists exactly when no two cores overlap and, in the order of the cores, the known tokens rise. Necessary:
// cores are held throughout, and cores are never empty, so they order their holds. Sufficient: acquiring at the answer
// and releasing at the question makes the shortest holds possible, and they do not overlap.
func tenures(ops []op, fenced bool) (decision, bool) {
	holds := make([]hold, 0, len(ops)/2)
	open, before := map[string]int{}, map[string]*op{}
	for i := range ops {
		o := &ops[i]
		if last := before[o.owner]; o.owner == someone || last != nil && last.ret > o.call {
			return decision{}, false
		}
		before[o.owner] = o
	}
	clear(before)
	for i := range ops {
		o := &ops[i]
		at, holding := open[o.owner]
		switch {
		case o.step == acquire && o.optional, o.step == release && o.optional && !holding:
		case o.step == acquire && holding:
			return decision{answer: Illegal, witness: []*op{holds[at].acquire, o},
				reason: fmt.Sprintf("%s was granted the lock that it already held and had not tried to release", o.owner)}, true
		case o.step == acquire:
			open[o.owner] = len(holds)
			holds = append(holds, hold{acquire: o})
		case !holding:
			witness := []*op{o}
			if last := before[o.owner]; last != nil {
				witness = []*op{last, o}
			}
			return decision{answer: Illegal, witness: witness, reason: fmt.Sprintf("%s released a lock that it had not acquired since", o.owner)}, true
		default:
			holds[at].release = o
			delete(open, o.owner)
			before[o.owner] = o
		}
	}
	return orderHolds(holds, fenced), true
}

func orderHolds(holds []hold, fenced bool) decision {
	slices.SortFunc(holds, func(a, b hold) int { return cmp.Compare(a.from(), b.from()) })
	var d decision
	var longest, highest *hold
	for i := range holds {
		h := &holds[i]
		if longest != nil && longest.to() > h.from() {
			return decision{answer: Illegal, witness: append(longest.ops(), h.acquire),
				reason: fmt.Sprintf("%s was granted the lock while %s held it%s", h.acquire.owner, longest.acquire.owner, unreleased(longest))}
		}
		longest = h
		if f := h.acquire.fence; fenced && f != "" {
			if highest != nil && !lower(highest.acquire.fence, f) {
				return decision{answer: Illegal, witness: append(highest.ops(), h.ops()...),
					reason: fmt.Sprintf("%s was granted the lock with token %s, after %s had it with token %s", h.acquire.owner, f, highest.acquire.owner, highest.acquire.fence)}
			}
			highest = h
		}
		d.order = append(d.order, placed{h.acquire, h.from()})
		if h.release != nil {
			d.order = append(d.order, placed{h.release, h.to()})
		}
	}
	d.answer = Legal
	return d
}

func unreleased(h *hold) string {
	if h.release == nil {
		return " and never released it"
	}
	return ""
}
