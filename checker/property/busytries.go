package property

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/anishathalye/porcupine"

	"lockcheck/checker/history"
	"lockcheck/checker/internal/search"
	"lockcheck/checker/model"
)

// busyOps are the failed tries of a key where they are evidence (R7), and the acquires of unknown outcome, or given up,
// that may explain them. A try that meets a core is explained in any order, and is left out.
func (j *Judge) busyOps(k *model.Lock, tenures iter.Seq[tenure]) (ops []porcupine.Operation) {
	if !j.m.Plan.TryAtomic {
		return nil
	}
	open := refusedInVain(k.Acquires, tenures)
	if len(open) == 0 {
		return nil
	}
	grants := len(k.Grants)
	for i, h := range k.Acquires {
		add := func(step lockStep, from, to int64) {
			ops = append(ops, porcupine.Operation{ClientId: 3*(grants+i) + int(step)%3, Call: from, Return: to,
				Input: lockInput{step, grants + i + 1, h}})
		}
		switch {
		case open[h]:
			add(stepBusy, h.StartNS(), h.DoneNS)
		case h.Outcome == history.Info || h.Outcome == history.Invoke:
			add(stepMaybe, h.StartNS(), search.OpenEnd)
			add(stepLeave, h.StartNS(), search.OpenEnd)
		case h.GaveUp():
			// It is over when it is answered: what it took it has given back by then. The last step is there for the order
			// in which the second comes before the first and does nothing; it has to come after both.
			add(stepMaybe, h.StartNS(), h.DoneNS)
			add(stepLeave, h.StartNS(), h.DoneNS)
			add(stepLeave, h.DoneNS+1, h.DoneNS+1)
		}
	}
	return ops
}

// wasBusy reports whether an acquire that did not wait was answered that the lock is held.
func wasBusy(h *model.Hold) bool {
	return h.Outcome == history.Fail && h.Try && h.Code == history.CodeBusy
}

// refusedInVain are the busy tries that have no moment in common with any core. The tenures come in the order of their latest
// grants. A try is settled when the first core comes that was granted after its answer: until then it waits, so that
// nothing is kept of tries and cores that are over.
func refusedInVain(acquires []*model.Hold, tenures iter.Seq[tenure]) map[*model.Hold]bool {
	found := map[*model.Hold]bool{}
	var waiting []*model.Hold // in the order of their answers
	longest := int64(math.MinInt64)
	settle := func(ns int64) {
		for ; len(acquires) > 0 && acquires[0].InvokeNS < ns; acquires = acquires[1:] {
			if h := acquires[0]; wasBusy(h) {
				n, _ := slices.BinarySearchFunc(waiting, h, func(a, b *model.Hold) int { return cmp.Compare(a.DoneNS, b.DoneNS) })
				waiting = slices.Insert(waiting, n, h)
			}
		}
		n := 0
		for ; n < len(waiting) && waiting[n].DoneNS < ns; n++ {
			if longest < waiting[n].StartNS() {
				found[waiting[n]] = true
			}
		}
		waiting = slices.Delete(waiting, 0, n)
	}
	for s := range tenures {
		if s.hasCore() {
			settle(s.granted())
			longest = max(longest, s.from)
		}
	}
	settle(model.Never)
	return found
}

func (j *Judge) busyFinding(k *model.Lock) model.Finding {
	f := model.Finding{Key: k.Name, ToNS: j.m.EndNS, AtNS: j.m.EndNS, Holds: []string{}, Events: []int64{}, Story: []model.Line{}}
	f.Summary = fmt.Sprintf("tries of %s were refused as busy at moments at which no client can have held it", k.Name)
	f.Cause = model.Unexplained
	return f
}
