package checker

import "lockcheck/checker/history"

// resolveByAnswers decides what the accesses did where the resource's log cannot be trusted (R9): what was answered ok happened. Of
// what has no definite answer a write happened if its value was found. Any other may have happened or not, and that decides
// nothing: no update looks at its value, so an order that has it is one without it, too, and the other way round.
func (m *Model) resolveByAnswers(all *registers) {
	found := map[*Access]bool{}
	for _, h := range m.Holds {
		r := all.of(h.Key)
		for _, a := range h.Accesses {
			a.handled, a.handledNS, a.applied = 0, max(a.DoneNS, a.InvokeNS), a.Outcome == history.OK
			switch {
			case a.F == history.Write && m.answer(a) != a.Value: // another's record counts (J12), or it is not known which
				a.applied, a.built = false, r.writer(a.Base)
			case a.F == history.Write:
				a.built = r.writer(a.Base)
			case a.applied:
				a.built = r.writer(a.Value)
				found[a.built] = true
			}
		}
	}
	for _, h := range m.Holds {
		for _, a := range h.Accesses {
			open := a.Outcome == history.Info || a.Outcome == history.Invoke || a.Outcome == history.OK && m.answer(a) == ""
			a.applied = a.applied || a.F == history.Write && open && found[a]
		}
	}
}
