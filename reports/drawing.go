package reports

import (
	"fmt"
	"slices"

	"lockcheck/checker"
	"lockcheck/checker/history"
)

// The drawing of one finding: who held when, on a true time axis.
//
//	            (1)      (2)            (3) (4)   (5)        the numbers of the story's lines
//	c2     ......[token 41 ██▒▒paused▒▒▒▒▒▒▒▒▒▒▒▒]╌╌╌╌╌      solid: believed; dashed: not confirmed any more
//	             ╰── lease ──────┤
//	c4      ..................... [token 57 █████████]
//	storage                              ●        ●          ● applied  ✕ rejected
//	       12.0 s      13.0 s      14.0 s      15.0 s
const (
	drawingWidth = 1080
	gutter       = 112 // for the names of the lanes
	margin       = 14
	stepRow      = 22 // one row of numbered marks
	maxStepRows  = 4
	laneHeight   = 58 // of the clients that the finding names
	smallLane    = 28 // of others
	faultLane    = 34
	storageLane  = 44
	barHeight    = 20

	maxOtherLanes = 4
	maxOtherHolds = 60
	maxRequests   = 200
	maxFaults     = 40
)

// picture is a drawing and what was left out of it.
type picture struct {
	Sheet   *sheet
	LeftOut []string
}

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
	leftOut  []string
	y        map[string]float64 // top of each lane
	storageY float64
}

func drawFinding(f checker.Finding, ix *index) picture {
	sc := compose(f, ix)
	s := &sheet{ID: "drawing-" + f.ID, Title: "Who held " + f.Key + " when: " + f.Summary, Width: drawingWidth}
	steps := sc.placeSteps()
	top := margin + float64(steps.rows)*stepRow + 6
	y := top
	sc.y = map[string]float64{}
	for _, lane := range sc.lanes {
		sc.y[lane] = y
		y += sc.height(lane)
	}
	for _, node := range sc.nodes {
		sc.y[node] = y
		y += faultLane
	}
	sc.storageY = y
	bottom := y + storageLane
	s.Height = bottom + 26

	// What is told in words comes last, so that nothing is drawn over it.
	sc.drawGrid(s, top, bottom)
	sc.drawOverlap(s)
	sc.drawFaults(s)
	sc.drawStepLines(s, steps, bottom)
	for i, hold := range slices.Backward(sc.holds) {
		sc.drawHold(s, hold, sc.holdClass(i), i < sc.own)
	}
	sc.drawRequests(s, ix)
	sc.drawLabels(s)
	sc.drawSteps(s, steps)
	return picture{Sheet: s, LeftOut: sc.leftOut}
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
	for _, h := range ix.granted[sc.finding.Key] {
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
	for _, r := range ix.requests[sc.finding.Key] {
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

func pastTense(f history.F) string {
	if f == "pause" {
		return "paused"
	}
	return string(f)
}

func (sc *scene) drawGrid(s *sheet, top, bottom float64) {
	for i, lane := range sc.lanes {
		y := sc.y[lane]
		if i%2 == 1 {
			s.rect("stripe", 0, y, drawingWidth, sc.height(lane), "")
		}
		s.text("lane", 8, y+sc.height(lane)/2+4, "start", clip(lane, 14))
	}
	for _, node := range sc.nodes {
		s.text("lane server", 8, sc.y[node]+faultLane/2+4, "start", clip(node, 14))
	}
	s.line("rule", 0, sc.storageY, drawingWidth, sc.storageY, "")
	s.text("lane server", 8, sc.storageY+18, "start", "storage")
	for _, t := range sc.axis.ticks(10) {
		x := sc.axis.x(t.ns)
		s.line("grid", x, top, x, bottom, "")
		s.text("tick", x, bottom+17, "middle", t.label)
	}
	s.line("rule", gutter, bottom, drawingWidth-margin, bottom, "")
}

// drawOverlap shades the stretch in which two of the finding's holds were both believed in.
func (sc *scene) drawOverlap(s *sheet) {
	if sc.own < 2 {
		return
	}
	a, b := sc.holds[sc.own-2], sc.holds[sc.own-1]
	from, to := max(a.DoneNS, b.DoneNS), min(a.BelievedNS, b.BelievedNS)
	if from >= to || a.Client == b.Client {
		return
	}
	y1, y2 := sc.y[a.Client], sc.y[b.Client] // both are lanes of full height
	x := sc.axis.x(from)
	w := max(sc.axis.x(to)-x, 2)
	s.rect("clash", x, min(y1, y2)+2, w, laneHeight+max(y1-y2, y2-y1)-4,
		fmt.Sprintf("%s and %s both believed that they held it: %s", a.Client, b.Client, span(to-from)))
}

func (sc *scene) drawHold(s *sheet, h *checker.Hold, class string, own bool) {
	y := sc.barY(h.Client)
	title := holdTitle(h)
	done, believed, end := sc.axis.x(h.DoneNS), sc.axis.x(max(h.BelievedNS, h.DoneNS)), sc.axis.x(holdEnd(h, sc.axis.to))
	if own && h.DoneNS > h.InvokeNS {
		s.line("wait", sc.axis.x(h.InvokeNS), y+barHeight/2, done, y+barHeight/2, "asked for the lock at "+clock(h.InvokeNS))
	}
	if h.Outcome != history.OK {
		return // nothing is known to have been granted
	}
	if end > believed+1 {
		s.rect("unsure "+class, believed, y+1, end-believed, barHeight-2, title)
	}
	s.rect("hold "+class, done, y, max(believed-done, 2), barHeight, title)
	if !own {
		return
	}
	sc.drawLease(s, h, y, class)
	if h.LostNS != 0 && sc.axis.shows(h.LostNS, h.LostNS) {
		s.cross("lost", sc.axis.x(h.LostNS), y+barHeight/2, 4.5, "told that it had lost the lock at "+clock(h.LostNS))
	}
}

func (sc *scene) drawLease(s *sheet, h *checker.Hold, y float64, class string) {
	if h.LeaseNS == 0 || !sc.axis.shows(h.DoneNS, h.LeaseNS) {
		return
	}
	from, to, base := sc.axis.x(h.DoneNS), sc.axis.x(h.LeaseNS), y+barHeight+6
	s.line("lease "+class, min(from, to), base, max(from, to), base, "")
	if h.LeaseNS > sc.axis.to || h.LeaseNS < sc.axis.from {
		return
	}
	s.path("leaseend "+class, fmt.Sprintf("M%s %sV%s", px(to), px(y-3), px(base+4)), "from "+clock(h.LeaseNS)+" on its lease may be over")
}

// drawLabels writes what the finding's own bars mean.
func (sc *scene) drawLabels(s *sheet) {
	for i, h := range sc.holds[:sc.own] {
		if h.Outcome != history.OK {
			continue
		}
		y, done, believed := sc.barY(h.Client), sc.axis.x(h.DoneNS), sc.axis.x(h.BelievedNS)
		label := clip("token "+firstOf(h.Token, "none"), 28)
		if width := textWidth(label); believed-done > width+10 {
			s.text("inbar", done+6, y+14, "start", label)
		} else {
			s.text("label "+sc.holdClass(i), min(done, drawingWidth-margin-width), y-5, "start", label)
		}
		if h.LeaseNS != 0 && sc.axis.shows(h.LeaseNS, h.LeaseNS) {
			sc.beside(s, "note", sc.axis.x(h.LeaseNS), y+barHeight+14, "lease may be over")
		}
	}
	for _, f := range sc.faults {
		from, to := faultSpan(f, sc.axis.to)
		x, w := sc.axis.x(from), sc.axis.x(to)-sc.axis.x(from)
		if label := clip(faultWords(f, sc.axis.to), 30); w > textWidth(label)+8 {
			s.text("faultlabel", x+w/2, sc.y[f.Target]+14, "middle", label)
		}
	}
}

// beside writes a note next to a mark, on the side where there is room.
func (sc *scene) beside(s *sheet, class string, x, y float64, note string) {
	if x+6+textWidth(note) > drawingWidth-margin {
		s.text(class, x-6, y, "end", note)
		return
	}
	s.text(class, x+6, y, "start", note)
}

// textWidth is a guess at the width of a label in the drawing's 12 px type; generous, as labels may touch nothing.
func textWidth(s string) float64 { return 6.6 * float64(len([]rune(s))) }

func holdTitle(h *checker.Hold) string {
	title := fmt.Sprintf("%s held %s with token %s: granted %s, believed until %s", h.Client, h.Key, firstOf(h.Token, "none"),
		clock(h.DoneNS), clock(max(h.BelievedNS, h.DoneNS)))
	if h.LeaseNS != 0 {
		title += ", lease until " + clock(h.LeaseNS) + " at least"
	}
	return title
}

func (sc *scene) drawFaults(s *sheet) {
	for _, f := range sc.faults {
		from, to := faultSpan(f, sc.axis.to)
		y, height := sc.y[f.Target], float64(faultLane)
		if slices.Contains(sc.lanes, f.Target) {
			height = sc.height(f.Target)
		}
		class := "fault"
		if f.EffectiveNS == 0 {
			class = "fault doubtful"
		}
		words := faultWords(f, sc.axis.to)
		x, w := sc.axis.x(from), max(sc.axis.x(to)-sc.axis.x(from), 2)
		s.rect(class, x, y+3, w, height-6, fmt.Sprintf("%s %s, from %s to %s", f.Target, words, clock(from), clock(to)))
	}
}

func (sc *scene) drawRequests(s *sheet, ix *index) {
	y := sc.storageY + 14.0
	noted := 0.0 // where the last note ended
	for _, r := range sc.requests {
		x := sc.axis.x(r.TimeNS)
		named := slices.Contains(sc.finding.Requests, r.Seq)
		class := "other"
		if h := ix.holds[r.Hold]; h != nil {
			if i := slices.Index(sc.holds[:sc.own], h); i >= 0 {
				class = sc.holdClass(i)
			}
			if _, ok := sc.y[h.Client]; ok && (named || class != "other") {
				s.line("sent "+class, x, sc.barY(h.Client)+barHeight, x, y-6, "")
			}
		}
		title := requestTitle(r)
		if note := string(r.Outcome) + " " + clip(firstOf(r.Token, "no token"), 20); named && r.Kind == history.KindWrite && x-textWidth(note)/2 > noted {
			centre := min(x, drawingWidth-margin-textWidth(note)/2)
			s.text("note", centre, y+19, "middle", note)
			noted = centre + textWidth(note)/2
		}
		switch {
		case r.Kind == history.KindRead:
			s.circle("read "+class, x, y, 4, title)
		case r.Outcome == history.Rejected:
			s.cross("rejected", x, y, 5, title)
		case named:
			s.circle("applied named "+class, x, y, 6.5, title)
		default:
			s.circle("applied "+class, x, y, 4, title)
		}
	}
}

func requestTitle(r history.Request) string {
	title := fmt.Sprintf("request %d at %s: %s of %q with token %s: %s", r.Seq, clock(r.TimeNS), r.Kind, clip(r.Value, 40),
		firstOf(r.Token, "none"), r.Outcome)
	if r.Outcome == history.Rejected {
		title += " (highest token seen: " + r.Mark + ")"
	}
	return title
}
