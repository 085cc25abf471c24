package models

import (
	"slices"

	"lockcheck/checker/foreign/jepsen"
)

// shrink makes an illegal history small. Every step of it keeps what is left illegal, which a search confirms, and is such
// that an order of what was there before would leave an order of what is left: so the contradiction that remains is one
// of the whole history. What is out of budget is left as it is.
//
// Two kinds of steps: cutting off what comes after a moment (shortest: an order of a history is an order of all its
// beginnings, what was under way at the cut being of unknown outcome from there on), and then taking out the model's units.
func (j *judge) shrink(ops []op) []*op {
	for again := true; again; {
		again = false
		for size := max(1, len(j.m.units(ops))/2); ; size /= 2 {
			smaller, took := j.takeOut(ops, size)
			ops, again = smaller, again || took
			if size <= 1 {
				break
			}
		}
	}
	return pointers(ops)
}

// shortest finds the shortest illegal beginning by halving: beginnings of a legal one are legal.
func (j *judge) shortest(ops []op) []op {
	var ends []int64
	for i := range ops {
		if !ops[i].optional {
			ends = append(ends, ops[i].ret)
		}
	}
	slices.Sort(ends)
	n, _ := slices.BinarySearchFunc(ends, 0, func(end, _ int64) int {
		if j.order(pointers(until(ops, end))) == Illegal {
			return 0
		}
		return -1
	})
	if n == len(ends) {
		return ops
	}
	if cut := until(ops, ends[n]); j.order(pointers(cut)) == Illegal {
		return j.withoutIdle(cut)
	}
	return ops
}

// until is what a history was at a moment.
func until(ops []op, end int64) []op {
	var cut []op
	for _, o := range ops {
		if o.call > end {
			continue
		}
		if o.ret > end {
			o.ret, o.optional = jepsen.Never, true
			if o.step == read {
				continue // of unknown outcome it says nothing
			}
		}
		cut = append(cut, o)
	}
	return cut
}

func (j *judge) withoutIdle(ops []op) []op {
	idle := j.m.idleOf(ops)
	var busy []op
	for i := range ops {
		if !idle[i] {
			busy = append(busy, ops[i])
		}
	}
	return busy
}

// takeOut tries to leave out so many units at once, from the first to the last.
func (j *judge) takeOut(ops []op, size int) (smaller []op, took bool) {
	for at := 0; ; {
		units := j.m.units(ops)
		if at >= len(units) {
			return ops, took
		}
		out := map[int]bool{}
		for _, unit := range units[at:min(at+size, len(units))] {
			for _, i := range unit {
				out[i] = true
			}
		}
		var rest []op
		for i := range ops {
			if !out[i] {
				rest = append(rest, ops[i])
			}
		}
		if len(rest) > 0 && j.order(pointers(rest)) == Illegal {
			ops, took = rest, true
			continue
		}
		at += size
	}
}
