package svg

import (
	"slices"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
	"lockcheck/reports/words"
)

// scene is what a finding's drawing shows, chosen before anything is placed.
type scene struct {
	finding   model.Finding
	axis      axis
	holds     []*model.Hold // the finding's own first, in its order
	own       int           // how many of them are the finding's own
	lanes     []string      // clients, top to bottom
	nodes     []string      // servers with a fault in view
	faults    []*model.Fault
	suspects  []*model.Fault // those that the cause names
	requests  []history.Request
	marks     []words.Disturbance
	leftOut   []string
	y         map[string]float64 // top of each lane
	resourceY float64
}

// compose chooses what is in view. What the finding names is always there; the rest is bounded, and counted.
func compose(f model.Finding, ix *Index) *scene {
	sc := &scene{finding: f, suspects: ix.Suspects(f.Cause)}
	from, to := f.FromNS, max(f.ToNS, f.AtNS)
	for _, line := range f.Story {
		from, to = min(from, line.TimeNS), max(to, line.TimeNS)
	}
	for _, s := range sc.suspects {
		if began, over := s.InForce(ix.model.EndNS); over < from {
			from = began
		}
	}
	pad := max((to-from)/25, 1e6)
	sc.axis = axis{from: max(from-pad, 0), to: to + pad, x0: gutter, x1: drawingWidth - margin}

	for _, id := range f.Holds {
		if h := ix.Holds[id]; h != nil && !slices.Contains(sc.holds, h) {
			sc.holds = append(sc.holds, h)
			sc.addLane(h.Client)
		}
	}
	sc.own = len(sc.holds)
	sc.addSuspects(ix)
	sc.addOthers(ix)
	sc.addFaults(ix)
	sc.addRequests(ix)
	sc.addDisturbances(ix)
	return sc
}

// addSuspects gives a lane to each client that a fault hit which the cause names, whether the client has held the lock or
// not.
func (sc *scene) addSuspects(ix *Index) {
	lanes := len(sc.lanes) + maxSuspectLanes
	for _, s := range sc.suspects {
		if ix.Clients[s.Target] && len(sc.lanes) < lanes {
			sc.addLane(s.Target)
		}
	}
}

func (sc *scene) addLane(client string) {
	if !slices.Contains(sc.lanes, client) {
		sc.lanes = append(sc.lanes, client)
	}
}

// height is that of a client's lane.
func (sc *scene) height(client string) float64 {
	for _, h := range sc.holds[:sc.own] {
		if h.Client == client {
			return laneHeight
		}
	}
	return smallLane
}

// barY is the top of a client's bars.
func (sc *scene) barY(client string) float64 {
	return sc.y[client] + (sc.height(client)-barHeight)/2
}

func (sc *scene) addOthers(ix *Index) {
	lanes := len(sc.lanes) + maxOtherLanes
	added, holds, hidden := 0, 0, map[string]bool{}
	for _, h := range ix.grantedWithin(sc.finding.Key, sc.axis.from, sc.axis.to) {
		if slices.Contains(sc.holds[:sc.own], h) || !sc.axis.shows(h.DoneNS, holdEnd(h, sc.axis.to)) {
			continue
		}
		known := slices.Contains(sc.lanes, h.Client)
		switch {
		case !known && len(sc.lanes) >= lanes:
			hidden[h.Client] = true
		case added >= maxOtherHolds:
			holds++
		default:
			sc.addLane(h.Client)
			sc.holds = append(sc.holds, h)
			added++
		}
	}
	if len(hidden) > 0 {
		sc.leftOut = append(sc.leftOut, history.Counted(int64(len(hidden)), "more client that was granted this lock in that time", "more clients that were granted this lock in that time"))
	}
	if holds > 0 {
		sc.leftOut = append(sc.leftOut, history.Counted(int64(holds), "hold of others", "holds of others"))
	}
}

func (sc *scene) addFaults(ix *Index) {
	left := 0
	for _, f := range ix.model.Faults {
		if f.BeginNS == 0 && f.EffectiveNS == 0 {
			continue
		}
		from, to := f.InForce(ix.model.EndNS)
		isLane, suspect := slices.Contains(sc.lanes, f.Target), slices.Contains(sc.suspects, f)
		switch {
		case !sc.axis.shows(from, to) || !isLane && !suspect && ix.Clients[f.Target]:
			continue // a fault of a client that has no part in this
		case len(sc.faults) >= maxFaults && !suspect, !isLane && ix.Clients[f.Target]:
			left++
			continue
		}
		sc.faults = append(sc.faults, f)
		if !isLane && !slices.Contains(sc.nodes, f.Target) {
			sc.nodes = append(sc.nodes, f.Target)
		}
	}
	if left > 0 {
		sc.leftOut = append(sc.leftOut, history.Counted(int64(left), "fault", "faults"))
	}
}

func (sc *scene) addRequests(ix *Index) {
	left := 0
	for r := range ix.requestsWithin(sc.finding.Key, sc.axis.from, sc.axis.to, sc.finding.Requests) {
		named := slices.Contains(sc.finding.Requests, r.Seq)
		if !named && (r.Kind != history.KindWrite || !sc.axis.shows(r.TimeNS, r.TimeNS)) {
			continue
		}
		if !named && len(sc.requests) >= maxRequests {
			left++
			continue
		}
		sc.requests = append(sc.requests, r)
	}
	if left > 0 {
		sc.leftOut = append(sc.leftOut, history.Counted(int64(left), "write", "writes"))
	}
}

func (sc *scene) addDisturbances(ix *Index) {
	left := 0
	for _, d := range ix.disturbances {
		switch {
		case !sc.axis.shows(d.FromNS, d.ToNS), d.Client != "" && !slices.Contains(sc.lanes, d.Client):
		case len(sc.marks) >= maxDisturbances:
			left++
		default:
			sc.marks = append(sc.marks, d)
		}
	}
	if left > 0 {
		sc.leftOut = append(sc.leftOut, history.Counted(int64(left), "stall, silence or setting of the machine's clock", "stalls, silences and settings of the machine's clock"))
	}
}

// holdClass gives the two that clash their colours: the last one named is the newer or wronged one.
func (sc *scene) holdClass(i int) string {
	switch {
	case i >= sc.own:
		return "other"
	case i == sc.own-1 && sc.own > 1:
		return "newer"
	}
	return "older"
}

// holdEnd is when a hold stopped mattering at the latest: it was released, or its client was told or died.
func holdEnd(h *model.Hold, otherwise int64) int64 {
	end := otherwise
	for _, ns := range []int64{h.ReleaseNS, h.LostNS, h.ExitNS} {
		if ns != 0 && ns < end {
			end = ns
		}
	}
	return max(end, h.BelievedNS, h.DoneNS)
}
