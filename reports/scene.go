package reports

import (
	"slices"

	"lockcheck/checker"
	"lockcheck/checker/history"
)

// scene is what a finding's drawing shows, chosen before anything is placed.
type scene struct {
	finding  checker.Finding
	axis     axis
	holds    []*checker.Hold // the finding's own first, in its order
	own      int             // how many of them are the finding's own
	lanes    []string        // clients, top to bottom
	nodes    []string        // servers with a fault in view
	faults   []*checker.Fault
	requests []history.Request
	marks    []disturbance
	leftOut  []string
	y        map[string]float64 // top of each lane
	storageY float64
}

// compose chooses what is in view. What the finding names is always there; the rest is bounded, and counted.
func compose(f checker.Finding, ix *index) *scene {
	sc := &scene{finding: f}
	from, to := f.FromNS, max(f.ToNS, f.AtNS)
	for _, line := range f.Story {
		from, to = min(from, line.TimeNS), max(to, line.TimeNS)
	}
	pad := max((to-from)/25, 1e6)
	sc.axis = axis{from: max(from-pad, 0), to: to + pad, x0: gutter, x1: drawingWidth - margin}

	for _, id := range f.Holds {
		if h := ix.holds[id]; h != nil && !slices.Contains(sc.holds, h) {
			sc.holds = append(sc.holds, h)
			sc.addLane(h.Client)
		}
	}
	sc.own = len(sc.holds)
	sc.addOthers(ix)
	sc.addFaults(ix)
	sc.addRequests(ix)
	sc.addDisturbances(ix)
	return sc
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

func (sc *scene) addOthers(ix *index) {
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
		sc.leftOut = append(sc.leftOut, plural(int64(len(hidden)), "more client that held this lock meanwhile", "more clients that held this lock meanwhile"))
	}
	if holds > 0 {
		sc.leftOut = append(sc.leftOut, plural(int64(holds), "hold of others", "holds of others"))
	}
}

func (sc *scene) addFaults(ix *index) {
	left := 0
	for _, f := range ix.model.Faults {
		if f.BeginNS == 0 && f.EffectiveNS == 0 {
			continue
		}
		from, to := faultSpan(f, ix.model.EndNS)
		isLane := slices.Contains(sc.lanes, f.Target)
		if !sc.axis.shows(from, to) || !isLane && ix.clients[f.Target] {
			continue // a fault of a client that has no part in this
		}
		if len(sc.faults) >= maxFaults && f.Op != sc.finding.Cause.Fault {
			left++
			continue
		}
		sc.faults = append(sc.faults, f)
		if !isLane && !slices.Contains(sc.nodes, f.Target) {
			sc.nodes = append(sc.nodes, f.Target)
		}
	}
	if left > 0 {
		sc.leftOut = append(sc.leftOut, plural(int64(left), "fault", "faults"))
	}
}

func (sc *scene) addRequests(ix *index) {
	left := 0
	for _, r := range ix.requestsWithin(sc.finding.Key, sc.axis.from, sc.axis.to, sc.finding.Requests) {
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
		sc.leftOut = append(sc.leftOut, plural(int64(left), "write", "writes"))
	}
}

func (sc *scene) addDisturbances(ix *index) {
	left := 0
	for _, d := range ix.disturbances {
		switch {
		case !sc.axis.shows(d.FromNS, d.ToNS):
		case len(sc.marks) >= maxDisturbances:
			left++
		default:
			sc.marks = append(sc.marks, d)
		}
	}
	if left > 0 {
		sc.leftOut = append(sc.leftOut, plural(int64(left), "stall or setting of the machine's clock", "stalls and settings of the machine's clock"))
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
func holdEnd(h *checker.Hold, otherwise int64) int64 {
	end := otherwise
	for _, ns := range []int64{h.ReleaseNS, h.LostNS, h.ExitNS} {
		if ns != 0 && ns < end {
			end = ns
		}
	}
	return max(end, h.BelievedNS, h.DoneNS)
}

// faultSpan is when a fault was in force: from when it may first have worked to when it was seen to be gone.
func faultSpan(f *checker.Fault, end int64) (from, to int64) {
	from = f.EffectiveNS
	if from == 0 {
		from = f.BeginNS
	}
	switch {
	case f.HealNS != 0:
		return from, max(f.HealNS, from)
	case f.HealedNS != 0:
		return from, max(f.HealedNS, from)
	}
	return from, max(end, from)
}

func faultWords(f *checker.Fault, end int64) string {
	from, to := faultSpan(f, end)
	words := pastTense(f.Name)
	if f.EffectiveNS == 0 {
		return words + "? never seen to work"
	}
	words += " " + span(to-from)
	if f.HealNS == 0 && f.HealedNS == 0 {
		words += ", never taken back"
	}
	return words
}

// pastTense is what was done to a fault's target.
func pastTense(f history.F) string {
	if words := pastTenses[f]; words != "" {
		return words
	}
	return string(f)
}

var pastTenses = map[history.F]string{
	"pause": "paused", "partition": "cut off", "kill": "killed", "clock": "clock changed", "failover": "failed over", "loss": "losing packets",
}
