package checker

import "lockcheck/checker/history"

// keepWhatMayExplain makes the witness of a refused try small. Its finding names no holds: it says of all that there were
// that none can have had the lock, so that leaving one out could make it true. What can be left out all the same:
//
//   - the other tries: what one of them needs is not asked of an order that only has to explain this one;
//   - reads and writes, which are no operations of the lock;
//   - holds that were asked for after the try was answered, or were certainly over before it was sent. They cannot be what
//     refused it, and without them the others have more room, so what has no order then has none with them.
//
// But a hold whose client still had an earlier one limits how long that one is proven to have lasted, and stays with it.
func (r *reducer) keepWhatMayExplain() {
	for _, try := range r.tries() {
		before := r.marks()
		r.keepAround(try)
		if r.proves() {
			return
		}
		for i := range r.lines {
			r.lines[i].out = before[i]
		}
	}
}

func (r *reducer) marks() []bool {
	marks := make([]bool, len(r.lines))
	for i := range r.lines {
		marks[i] = r.lines[i].out
	}
	return marks
}

// tries are the refused ones, in their order.
func (r *reducer) tries() (tries []*Hold) {
	for _, h := range r.search.model.Holds {
		if r.g.holds[h.ID] && h.refused() {
			tries = append(tries, h)
		}
	}
	return tries
}

func (h *Hold) refused() bool {
	return h.Outcome == history.Fail && h.Try && h.Code == history.CodeBusy
}

// keepAround leaves out all that cannot matter to a try.
func (r *reducer) keepAround(try *Hold) {
	keep, open, clients := map[string]bool{}, map[string]*Hold{}, map[string]bool{} // open: by client, a hold kept and not seen to be gone
	for _, h := range r.search.model.Holds {
		if !r.g.holds[h.ID] || h.refused() && h != try {
			continue
		}
		earlier := open[h.Client]
		follows := earlier != nil && earlier.goneNS() > h.InvokeNS
		if h.matters(try) || follows {
			keep[h.ID], clients[h.Client] = true, true
			if h.Outcome == history.OK {
				open[h.Client] = h
			}
		}
	}
	for i := range r.lines {
		l := &r.lines[i]
		switch {
		case l.request != nil, l.event.Op != 0 && (l.event.F == history.Read || l.event.F == history.Write), l.hold != "" && !keep[l.hold]:
			l.out = true
		case l.event.Client != "" && !clients[l.event.Client]:
			l.out = true
		}
	}
}

// matters reports whether a hold may have been what refused a try.
func (h *Hold) matters(try *Hold) bool {
	switch {
	case h == try:
		return true
	case h.Key != try.Key || h.startNS() > try.DoneNS:
		return false
	case h.Outcome == history.Fail:
		return h.DoneNS >= try.startNS()
	}
	return h.goneNS() >= try.startNS()
}
