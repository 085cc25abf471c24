package models

import (
	"cmp"
	"container/heap"
	"fmt"
	"slices"

	"lockcheck/checker/foreign/jepsen"
	"lockcheck/checker/history"
)

// moment is an end of an operation's interval. All moments of a history differ.
type moment struct {
	at   int64
	op   *op
	back bool // its return
}

func momentsOf(ops []op) []moment {
	all := make([]moment, 0, 2*len(ops))
	for i := range ops {
		all = append(all, moment{ops[i].call, &ops[i], false})
		if ops[i].ret != jepsen.Never {
			all = append(all, moment{ops[i].ret, &ops[i], true})
		}
	}
	slices.SortFunc(all, func(a, b moment) int { return cmp.Compare(a.at, b.at) })
	return all
}

// queue gives the operations of one kind that are under way, the one that has to take effect first in front. Those of
// unknown outcome never have to, and come last.
type queue []*op

func (q queue) Len() int { return len(q) }
func (q queue) Less(i, j int) bool {
	return q[i].ret < q[j].ret || q[i].ret == q[j].ret && q[i].call < q[j].call
}
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)   { *q = append(*q, x.(*op)) }
func (q *queue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}

// alternation decides whether acquires and releases without owners can take turns, an acquire first.
//
// The rule: nothing takes effect before it must. When an operation returns that has not taken effect, it does so now; if
// the lock is in the wrong state for it, one of the other kind goes first, the one that has to be done earliest. There is
// an order exactly if there always is such a one.
//
// Why it is exact: take any order that works, and the first return D at which it and the rule part. All that it places
// before D and the rule has not done yet can be moved to D in its own sequence: nothing of it has to be done before D
// (D is the earliest return left), and all of it was called before. What is moved alternates, so it begins with the
// operation F that returns at D, or with one of the other kind and F, up to which acquires or releases stand in these one
// or two places; and two of a kind that are both under way at D may change places, the one that must be done earlier
// going first, since the other lasts longer. So the order can be made to begin as the rule does; the rest of it stays
// behind, at D or later. By induction over the returns the rule finds an order if there is any.
//
// It generalises the rule that neighbouring cores (acquire answered, release asked for) must not overlap: where every
// hold is released by its own process, the lazy order releases at the next acquire's answer, which is possible exactly
// if the release had been asked for.
func alternation(ops []op) (decision, bool) {
	var pending [2]queue // by step
	var d decision
	held := false
	done := make(map[*op]bool, len(ops))
	do := func(o *op, at int64) {
		done[o] = true
		held = o.step == acquire
		d.order = append(d.order, placed{o, at})
	}
	moments := momentsOf(ops)
	for n, m := range moments {
		switch {
		case !m.back:
			heap.Push(&pending[m.op.step], m.op)
			continue
		case done[m.op]:
			continue
		}
		if held == (m.op.step == acquire) {
			other := &pending[release-m.op.step]
			for other.Len() > 0 && done[(*other)[0]] {
				heap.Pop(other)
			}
			if other.Len() == 0 {
				return crowded(moments[:n+1]), true
			}
			do(heap.Pop(other).(*op), m.at)
		}
		do(m.op, m.at)
	}
	d.answer = Legal
	return d, true
}

// crowded finds the operations that make it impossible to go on at the last of the moments: so many of one kind had to
// take effect within a stretch of time that too few of the other kind can have fallen between them.
//
// Of n acquires that begin and end within a stretch, n-1 releases must fall between them; a release can only if its own
// interval meets the stretch. So n acquires and n-2 releases are a contradiction, with any other operations besides, and the
// other way round. Releases from the very beginning on even need as many acquires, the lock being free at first. The shortest
// such stretch up to now is the witness.
func crowded(moments []moment) decision {
	last := moments[len(moments)-1]
	kind := last.op.step
	inside, others := 0, 0
	returned := map[*op]bool{}
	for _, m := range moments {
		if m.back {
			returned[m.op] = true
		}
	}
	for _, m := range moments { // those of the other kind still under way meet every stretch
		if !m.back && m.op.step != kind && !returned[m.op] {
			others++
		}
	}
	for i := len(moments) - 1; i >= 0; i-- {
		switch m := moments[i]; {
		case m.back && m.op.step != kind:
			others++
		case !m.back && m.op.step == kind && returned[m.op]:
			inside++
		}
		beginning := kind == release && i == 0
		if inside >= others+2 || beginning && inside > others {
			return decision{answer: Illegal, witness: within(moments, moments[i].at, kind, returned), held: kind == release && inside >= others+2,
				reason: crowdReason(kind, inside, others, inside < others+2)}
		}
	}
	// No single stretch explains it, as in TestNoStretchExplainsIt; one in some 200,000 random histories is like that. The
	// whole beginning is a witness, too.
	return decision{answer: Illegal, witness: within(moments, 0, kind, returned), reason: fmt.Sprintf("%s cannot take turns up to here", last.op.step)}
}

// within are the operations of a kind inside a stretch, and those of the other kind that meet it.
func within(moments []moment, from int64, kind step, returned map[*op]bool) (ops []*op) {
	for _, m := range moments {
		if m.back {
			continue
		}
		if m.op.step == kind && returned[m.op] && m.op.call >= from || m.op.step != kind && m.op.ret >= from {
			ops = append(ops, m.op)
		}
	}
	return ops
}

func crowdReason(kind step, inside, others int, beginning bool) string {
	switch {
	case kind == acquire && others == 0:
		return fmt.Sprintf("%d acquires succeeded one after the other or side by side, and nothing can have released the lock between them", inside)
	case kind == acquire:
		return fmt.Sprintf("%d acquires succeeded in a stretch of time in which at most %s can have taken effect", inside, history.Counted(others, "release", "releases"))
	case beginning:
		return fmt.Sprintf("%s succeeded by a time at which at most %s can have", history.Counted(inside, "release", "releases"), history.Counted(others, "acquire", "acquires"))
	case others == 0:
		return fmt.Sprintf("%d releases succeeded one after the other or side by side, and no client can have acquired the lock between them", inside)
	default:
		return fmt.Sprintf("%d releases succeeded in a stretch of time in which at most %s can have taken effect", inside, history.Counted(others, "acquire", "acquires"))
	}
}
