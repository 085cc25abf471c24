package explain

import (
	"fmt"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
)

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
func (r *reducer) tries() (tries []*model.Hold) {
	for _, h := range r.search.model.Holds {
		if r.g.holds[h.ID] && refused(h) {
			tries = append(tries, h)
		}
	}
	return tries
}

func refused(h *model.Hold) bool {
	return h.Outcome == history.Fail && h.Try && h.Code == history.CodeBusy
}

// keepAround leaves out all that cannot matter to a try.
func (r *reducer) keepAround(try *model.Hold) {
	keep, open, clients := map[string]bool{}, map[string]*model.Hold{}, map[string]bool{} // open: by client, a hold kept and not seen to be gone
	for _, h := range r.search.model.Holds {
		if !r.g.holds[h.ID] || refused(h) && h != try {
			continue
		}
		earlier := open[h.Client]
		follows := earlier != nil && earlier.GoneNS() > h.InvokeNS
		if matters(h, try) || follows {
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
func matters(h *model.Hold, try *model.Hold) bool {
	switch {
	case h == try:
		return true
	case h.Key != try.Key || h.StartNS() > try.DoneNS:
		return false
	case h.Outcome == history.Fail:
		return h.DoneNS >= try.StartNS()
	}
	return h.GoneNS() >= try.StartNS()
}

// reducer leaves lines out of a gathering as long as what is left shows the finding.
type reducer struct {
	search *witnessSearch
	g      *gathering
	lines  []line
	left   int // lines that may still be judged
}

// line is one event or request. What is left out together stands in one group: nothing is left of an operation but all of it.
type line struct {
	event   *history.Event
	request *gatheredRequest
	op      string // group by operation, fault, or the line alone
	hold    string // group by hold; "" for what belongs to none
	out     bool
}

func newReducer(s *witnessSearch, g *gathering) *reducer {
	r := &reducer{search: s, g: g, left: maxJudged, lines: make([]line, 0, len(g.events)+len(g.requests))}
	for i := range g.events {
		e := &g.events[i]
		l := line{event: e, op: fmt.Sprint("event ", e.Index), hold: e.Hold}
		switch {
		case e.Process == history.NemesisProcess:
			l.op, l.hold = fmt.Sprint("fault ", e.Op), ""
		case e.Process == history.HarnessProcess && e.Op != 0:
			l.op = fmt.Sprint("probe ", e.Op)
		case e.Op != 0:
			l.op = fmt.Sprint("operation ", e.Op)
		}
		r.lines = append(r.lines, l)
	}
	for i := range g.requests {
		q := &g.requests[i]
		r.lines = append(r.lines, line{request: q, op: fmt.Sprint("operation ", model.OperationOf(&q.Request)), hold: q.Hold})
	}
	return r
}

// start looks whether the whole of it shows the finding, and if not, whether it does without what was rejected: a
// rejection needs the one who had the greater token.
func (r *reducer) start() bool {
	if r.proves() {
		return true
	}
	rejected := map[string]bool{}
	for _, l := range r.lines {
		if l.request != nil && l.request.Outcome == history.Rejected {
			rejected[l.op] = true
		}
	}
	for i := range r.lines {
		r.lines[i].out = rejected[r.lines[i].op]
	}
	return len(rejected) > 0 && r.proves()
}

// reduce leaves out whole holds, then operations and single lines, until nothing more can be spared.
func (r *reducer) reduce() {
	if unnamed(r.search.finding) {
		r.keepWhatMayExplain()
		return
	}
	byHold := func(l *line) string { return l.hold }
	byOperation := func(l *line) string { return l.op }
	for before := len(r.lines) + 1; r.kept() < before; {
		before = r.kept()
		r.leaveOut(byHold)
		r.leaveOut(byOperation)
	}
}

func (r *reducer) kept() (n int) {
	for i := range r.lines {
		if !r.lines[i].out {
			n++
		}
	}
	return n
}

// leaveOut tries to do without many groups at once, then without fewer, down to each alone.
func (r *reducer) leaveOut(group func(*line) string) {
	members := map[string][]int{}
	var groups [][]int
	for i := range r.lines {
		name := group(&r.lines[i])
		if name == "" || r.lines[i].out {
			continue
		}
		members[name] = append(members[name], i)
	}
	for i := range r.lines { // in the order of their first lines
		if name := group(&r.lines[i]); members[name] != nil {
			groups = append(groups, members[name])
			delete(members, name)
		}
	}
	for size := len(groups); size > 0; size /= 2 {
		for from := 0; from < len(groups); {
			to := min(from+size, len(groups))
			if r.without(groups[from:to]) {
				groups = append(groups[:from:from], groups[to:]...)
			} else {
				from = to
			}
		}
	}
}

// without leaves groups out if what is left still shows the finding.
func (r *reducer) without(groups [][]int) bool {
	for _, group := range groups {
		for _, i := range group {
			r.lines[i].out = true
		}
	}
	if r.proves() {
		return true
	}
	for _, group := range groups {
		for _, i := range group {
			r.lines[i].out = false
		}
	}
	return false
}

// proves judges what is left, unless that was done too often.
func (r *reducer) proves() bool {
	r.left -= r.kept()
	return r.left >= 0 && r.search.shows(r.assemble())
}

// assemble makes a recording of its own of what is left. It ends as the whole does; one that was cut short, which ends
// with nothing, with the mark of a run that was ended before its time.
func (r *reducer) assemble() *Witness {
	f, m := r.search.finding, r.search.model
	w := &Witness{Finding: f.ID, Plan: m.Plan}
	excerpt := &history.Excerpt{Finding: f.ID, Property: string(r.search.property), Disordered: m.DisorderedKeys, Untrusted: m.Untrusted() != ""}
	w.Plan.Excerpt, w.Plan.Exposure, w.Plan.Steps, w.Plan.Schedule = excerpt, nil, nil, nil
	begun, asked := map[string]bool{}, map[string]bool{}
	for i := range r.lines {
		switch l := &r.lines[i]; {
		case l.out:
		case l.event != nil && l.event.F == history.Silent && !asked[l.event.Client]: // it says nothing without a request for a lock
		case l.event != nil:
			e := *l.event
			e.Index = int64(len(w.Events))
			asked[e.Client] = asked[e.Client] || e.F == history.Acquire
			w.Events = append(w.Events, e)
		default:
			q := l.request.Request
			if !begun[q.Key] && q.Outcome == history.Applied {
				begun[q.Key] = true
				if l.request.before != "" {
					if excerpt.Initial == nil {
						excerpt.Initial = map[string]string{}
					}
					excerpt.Initial[q.Key] = l.request.before
				}
			}
			q.Seq = int64(len(w.Requests)) + 1
			w.Requests = append(w.Requests, q)
		}
	}
	end := history.Event{Index: int64(len(w.Events)), TimeNS: m.EndNS, Process: history.HarnessProcess, Type: history.Info, F: history.Phase, Value: history.PhaseStopped}
	if m.Complete {
		end.Value = history.PhaseEnd
	}
	w.Events = append(w.Events, end)
	return w
}
