package explain

import (
	"slices"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
)

// gathering is the lines of a recording that the witness of one finding is made from.
type gathering struct {
	search *witnessSearch
	// What belongs to it: holds and all that names them; reports of sessions, ends of clients, a fault; marks of the harness.
	holds, sessions, clients map[string]bool
	faults                   map[int64]bool
	closings, probes         bool
	leaders                  bool  // who led when a server was hit decides how a cause is worded
	lastEvent, lastNS        int64 // lines after both need not be looked at
	lastSeq                  int64 // nor do requests after this one, once all that is certainly in the log was met

	events    []history.Event
	requests  []gatheredRequest
	awaited   map[int64]bool // operations that the resource's log certainly has a request of
	overflown bool
}

// gatheredRequest is a request and what its register held before it.
type gatheredRequest struct {
	history.Request
	before string
}

// gathering says what of the run lies within reach.
func (s *witnessSearch) gathering(reach reach) *gathering {
	f := s.finding
	g := &gathering{
		search: s, holds: map[string]bool{}, sessions: map[string]bool{}, clients: map[string]bool{}, faults: map[int64]bool{},
		closings: s.property == model.ReleaseByOwner, probes: s.waits(), awaited: map[int64]bool{}, lastNS: max(f.AtNS, f.ToNS),
	}
	if len(f.Requests) > 0 {
		g.lastSeq = slices.Max(f.Requests)
	}
	for _, h := range s.model.Holds {
		near := reach >= reachNear && h.Key == f.Key && h.InvokeNS <= g.lastNS && h.OverNS() >= f.FromNS
		if near || reach == reachLock && h.Key == f.Key || slices.Contains(f.Holds, h.ID) {
			g.add(h)
		}
	}
	if s.waits() { // which session an acquire that still waits is under, nothing says but its client
		for id, session := range s.model.Sessions {
			if g.clients[session.Client] || s.stretchesTheBound(session.Leases) {
				g.sessions[id] = true
			}
		}
		for _, h := range s.model.Holds {
			if s.stretchesTheBound(h.Leases()) {
				g.add(h)
			}
		}
	}
	for _, fault := range s.model.Faults {
		if s.waits() { // time in which any was active does not count
			g.faults[fault.Op] = true
		}
		if f.Cause.Fault != 0 && (fault.Op == f.Cause.Fault || slices.Contains(f.Cause.Others, fault.Op)) {
			g.faults[fault.Op], g.leaders = true, true
			g.lastNS = max(g.lastNS, fault.HealedNS, fault.HealNS)
			g.lastEvent = max(g.lastEvent, slices.Max(fault.Events))
			g.know(fault.Target)
		}
	}
	if reach > reachHolds || unnamed(f) {
		g.lastNS, g.lastSeq = model.Never, model.Never
	}
	return g
}

// waits reports whether the finding is that a lock was not granted in time in which nothing disturbed.
func (s *witnessSearch) waits() bool {
	return s.property == model.Liveness || s.property == model.MissedExecution
}

// stretchesTheBound reports whether one of some leases, longer than the plan's, was acknowledged by the end of the finding and
// ran when it began.
func (s *witnessSearch) stretchesTheBound(leases []model.Lease) bool {
	return slices.ContainsFunc(leases, func(l model.Lease) bool {
		return l.TTLNS > s.model.Plan.EffectiveMS*1e6 && l.TimeNS <= s.finding.ToNS && l.TimeNS+l.TTLNS > s.finding.FromNS
	})
}

func (g *gathering) add(h *model.Hold) {
	g.holds[h.ID], g.clients[h.Client] = true, true
	if h.Session != "" {
		g.sessions[h.Session] = true
	}
	g.lastNS = max(g.lastNS, h.LostNS, h.ExitNS, h.EndedNS)
	g.lastEvent = max(g.lastEvent, slices.Max(h.Events()))
}

// know adds a hold of a client that a fault hit, of any lock: without one no reader could see that it is a client.
func (g *gathering) know(client string) {
	if g.clients[client] || g.search.model.Clients[client] == nil {
		return
	}
	var known *model.Hold
	for _, h := range g.search.model.Holds {
		if h.Client == client && (known == nil || h.InvokeNS <= g.search.finding.AtNS) {
			known = h
		}
	}
	if known != nil {
		g.add(known)
	}
}

// gather reads a recording once, for all that are looked for.
func gather(rec model.Recording, all []*gathering) error {
	in := newWhere(all)
	for e, err := range rec.Events {
		switch {
		case err != nil:
			return err
		case e.Index > in.lastEvent && e.TimeNS > in.lastNS:
		default:
			in.event(&e)
			continue
		}
		break
	}
	before := map[string]string{} // by key: what the register holds
	for q, err := range rec.Requests {
		if err != nil {
			return err
		}
		for _, g := range in.holds[q.Hold] {
			q.TimeNS = g.search.model.Requests.At(int(q.Seq) - 1).TimeNS // that of a resource under test is worked out
			g.request(&q, before[q.Key])
		}
		if q.Kind == history.KindWrite && q.Outcome == history.Applied {
			before[q.Key] = q.Value
		}
		if q.Seq >= in.lastSeq && !slices.ContainsFunc(all, func(g *gathering) bool { return len(g.awaited) > 0 }) {
			break
		}
	}
	return nil
}

// where says which gatherings a line belongs to.
type where struct {
	all                      []*gathering
	holds, sessions, clients map[string][]*gathering
	faults                   map[int64][]*gathering
	lastEvent, lastNS        int64
	lastSeq                  int64
}

func newWhere(all []*gathering) *where {
	in := &where{all: all, holds: map[string][]*gathering{}, sessions: map[string][]*gathering{}, clients: map[string][]*gathering{},
		faults: map[int64][]*gathering{}}
	for _, g := range all {
		for id := range g.holds {
			in.holds[id] = append(in.holds[id], g)
		}
		for id := range g.sessions {
			in.sessions[id] = append(in.sessions[id], g)
		}
		for name := range g.clients {
			in.clients[name] = append(in.clients[name], g)
		}
		for op := range g.faults {
			in.faults[op] = append(in.faults[op], g)
		}
		in.lastEvent, in.lastNS = max(in.lastEvent, g.lastEvent), max(in.lastNS, g.lastNS)
		in.lastSeq = max(in.lastSeq, g.lastSeq)
	}
	return in
}

func (in *where) event(e *history.Event) {
	switch {
	case e.Process == history.NemesisProcess:
		for _, g := range in.faults[e.Op] {
			g.event(e)
		}
	case e.Process == history.HarnessProcess:
		for _, g := range in.all {
			if g.wantsMark(e) {
				g.event(e)
			}
		}
	case e.Hold != "":
		for _, g := range in.holds[e.Hold] {
			g.event(e)
		}
	case e.Session != "" && e.F != history.Exit:
		for _, g := range in.sessions[e.Session] {
			g.event(e)
		}
	case e.F == history.Exit && e.Type == history.Invoke:
		for _, g := range in.all {
			if g.closings || g.clients[e.Client] {
				g.event(e)
			}
		}
	default:
		for _, g := range in.clients[e.Client] {
			g.event(e)
		}
	}
}

// wantsMark reports whether a mark of the harness belongs to it.
func (g *gathering) wantsMark(e *history.Event) bool {
	switch e.F {
	case history.Stall, history.ClockStep:
		return true
	case history.Leader:
		return g.leaders
	case history.Probe:
		return g.probes
	}
	return e.Value != history.PhaseEnd && e.Value != history.PhaseStopped
}

func (g *gathering) event(e *history.Event) {
	if g.full() {
		return
	}
	g.events = append(g.events, *e)
	if (e.Type == history.OK || e.Code == history.CodeRejected) && (e.F == history.Read || e.F == history.Write) {
		g.awaited[e.Op] = true
	}
}

func (g *gathering) request(q *history.Request, before string) {
	if g.full() {
		return
	}
	g.requests = append(g.requests, gatheredRequest{*q, before})
	delete(g.awaited, model.OperationOf(q))
}

// full forgets what was gathered once it is too much.
func (g *gathering) full() bool {
	if len(g.events)+len(g.requests) >= maxGathered {
		g.overflown = true
	}
	if g.overflown {
		g.events, g.requests = nil, nil
		clear(g.awaited)
	}
	return g.overflown
}
