package checker

import (
	"fmt"

	"lockcheck/checker/history"
)

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
		r.lines = append(r.lines, line{request: q, op: fmt.Sprint("operation ", operationOf(&q.Request)), hold: q.Hold})
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
	if r.search.finding.unnamed() {
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
	excerpt := &history.Excerpt{Finding: f.ID, Property: string(r.search.property), Disordered: m.disorderedKeys, Untrusted: m.untrusted() != ""}
	w.Plan.Excerpt, w.Plan.Exposure, w.Plan.Steps, w.Plan.Schedule = excerpt, nil, nil, nil
	begun := map[string]bool{}
	for i := range r.lines {
		switch l := &r.lines[i]; {
		case l.out:
		case l.event != nil:
			e := *l.event
			e.Index = int64(len(w.Events))
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
