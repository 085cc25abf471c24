package svg

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
	"lockcheck/reports/words"
)

// The drawing of one finding: who held when, on a true time axis.
//
//	            (1)      (2)            (3) (4)   (5)        the numbers of the story's lines
//	c2     ......[token 41 ██▒▒paused▒▒▒▒▒▒▒▒▒▒▒▒]╌╌╌╌╌      solid: believed; dashed: not confirmed any more
//	             ╰── lease ──────┤
//	c4      ..................... [token 57 █████████]
//	resource                              ●        ●          ● applied  ✕ rejected
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
	resourceLane = 44
	barHeight    = 20

	maxOtherLanes   = 4
	maxSuspectLanes = 12
	maxOtherHolds   = 60
	maxRequests     = 200
	maxFaults       = 40

	maxDisturbances = 40
)

// Picture is the drawing of a finding, and what was left out of it.
type Picture struct {
	Sheet   *Sheet
	LeftOut []string
	Marks   []words.Disturbance
}

// Finding draws the story of one finding.
func Finding(f model.Finding, ix *Index) Picture {
	sc := compose(f, ix)
	s := &Sheet{ID: "drawing-" + f.ID, Title: "Who was granted " + words.Clip(f.Key, words.MaxName) + " and believed that it held it, when: " + f.Summary, Width: drawingWidth}
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
	sc.resourceY = y
	bottom := y + resourceLane
	s.Height = bottom + 26

	// What is told in words comes last, so that nothing is drawn over it.
	sc.drawGrid(s, top, bottom)
	sc.drawDisturbances(s, top, bottom)
	sc.drawOverlap(s)
	sc.drawFaults(s)
	sc.drawStepLines(s, steps, bottom)
	sc.drawOthers(s)
	for i, hold := range sc.holds[:sc.own] {
		sc.drawHold(s, hold, sc.holdClass(i))
	}
	sc.drawRequests(s, ix)
	sc.drawLabels(s)
	sc.drawSteps(s, steps)
	return Picture{Sheet: s, LeftOut: sc.leftOut, Marks: sc.marks}
}

func (sc *scene) drawGrid(s *Sheet, top, bottom float64) {
	for i, lane := range sc.lanes {
		y := sc.y[lane]
		if i%2 == 1 {
			s.rect("stripe", 0, y, drawingWidth, sc.height(lane), "")
		}
		s.text("lane", 8, y+sc.height(lane)/2+4, "start", words.Clip(lane, 14))
	}
	for _, node := range sc.nodes {
		s.text("lane server", 8, sc.y[node]+faultLane/2+4, "start", words.Clip(node, 14))
	}
	s.line("rule", 0, sc.resourceY, drawingWidth, sc.resourceY, "")
	s.text("lane server", 8, sc.resourceY+18, "start", "resource")
	s.drawTicks(sc.axis, top, bottom, 17)
	s.line("rule", gutter, bottom, drawingWidth-margin, bottom, "")
}

// drawDisturbances marks when the machine itself was disturbed, across all lanes: it befell all of them. A silence is in its client's.
func (sc *scene) drawDisturbances(s *Sheet, top, bottom float64) {
	for _, d := range sc.marks {
		x := sc.axis.x(d.FromNS)
		y, height := top, bottom-top
		if d.Client != "" {
			y, height = sc.y[d.Client], sc.height(d.Client)
		}
		s.rect(d.Class, x, y, max(sc.axis.x(d.ToNS)-x, 1), height, d.Words)
	}
}

// Marked reports whether a drawing has a mark of a class.
func (p Picture) Marked(class string) bool {
	return slices.ContainsFunc(p.Marks, func(d words.Disturbance) bool { return d.Class == class })
}

// drawOverlap shades the stretch in which two of the finding's holds were both believed in.
func (sc *scene) drawOverlap(s *Sheet) {
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
		fmt.Sprintf("%s and %s both believed that they held it: %s", words.Clip(a.Client, words.MaxName), words.Clip(b.Client, words.MaxName), history.Duration(to-from)))
}

// drawOthers draws the holds that the finding does not name: two shapes for all of them, as there may be many.
func (sc *scene) drawOthers(s *Sheet) {
	sure, unsure := lanes{}, lanes{}
	for _, h := range sc.holds[sc.own:] {
		done, believed, end := sc.holdColumns(h)
		y := sc.barY(h.Client)
		sure.add(y, done, max(believed, done+1))
		if end > believed+1 {
			unsure.add(y+1, believed, end)
		}
	}
	sure.draw(s, "hold other", barHeight)
	unsure.draw(s, "unsure other", barHeight-2)
}

// lanes are stretches of columns by the upper edge of the lane's bar.
type lanes map[float64][][2]float64

func (l lanes) add(y, from, to float64) { l[y] = append(l[y], [2]float64{from, to}) }

// draw draws them as one shape. Stretches less than a pixel apart are one, so that there are no more than pixels.
func (l lanes) draw(s *Sheet, class string, height float64) {
	if len(l) == 0 {
		return
	}
	var path strings.Builder
	for _, y := range slices.Sorted(maps.Keys(l)) {
		stretches := l[y]
		slices.SortFunc(stretches, func(a, b [2]float64) int { return cmp.Compare(a[0], b[0]) })
		run := stretches[0]
		draw := func() {
			fmt.Fprintf(&path, "M%s %sH%sV%sH%sz", px(run[0]), px(y), px(run[1]), px(y+height), px(run[0]))
		}
		for _, next := range stretches[1:] {
			if next[0] > run[1]+1 {
				draw()
				run = next
			}
			run[1] = max(run[1], next[1])
		}
		draw()
	}
	s.path(class, path.String(), "")
}

func (sc *scene) holdColumns(h *model.Hold) (done, believed, end float64) {
	return sc.axis.x(h.DoneNS), sc.axis.x(max(h.BelievedNS, h.DoneNS)), sc.axis.x(holdEnd(h, sc.axis.to))
}

func (sc *scene) drawHold(s *Sheet, h *model.Hold, class string) {
	y, title := sc.barY(h.Client), holdTitle(h)
	done, believed, end := sc.holdColumns(h)
	if h.DoneNS > h.InvokeNS {
		s.line("wait", sc.axis.x(h.InvokeNS), y+barHeight/2, done, y+barHeight/2, "asked for the lock at "+history.Moment(h.InvokeNS))
	}
	if h.Outcome != history.OK {
		return // nothing is known to have been granted
	}
	if end > believed+1 {
		s.rect("unsure "+class, believed, y+1, end-believed, barHeight-2, title)
	}
	s.rect("hold "+class, done, y, max(believed-done, 2), barHeight, title)
	sc.drawLease(s, h, y, class)
	if h.LostNS != 0 && sc.axis.shows(h.LostNS, h.LostNS) {
		s.cross("lost", sc.axis.x(h.LostNS), y+barHeight/2, 4.5, "told that it had lost the lock at "+history.Moment(h.LostNS))
	}
}

func (sc *scene) drawLease(s *Sheet, h *model.Hold, y float64, class string) {
	if h.LeaseNS == 0 || !sc.axis.shows(h.DoneNS, h.LeaseNS) {
		return
	}
	from, to, base := sc.axis.x(h.DoneNS), sc.axis.x(h.LeaseNS), y+barHeight+6
	s.line("lease "+class, min(from, to), base, max(from, to), base, "")
	if !sc.leaseEnds(h) {
		return
	}
	s.path("leaseend "+class, fmt.Sprintf("M%s %sV%s", px(to), px(y-3), px(base+4)), "from "+history.Moment(h.LeaseNS)+" on its lease may be over")
}

// leaseEnds reports whether a lease is seen to run out under its hold. A release ends the protection too (rule R5), but
// that is no lease running out.
func (sc *scene) leaseEnds(h *model.Hold) bool {
	return h.LeaseNS != 0 && sc.axis.shows(h.LeaseNS, h.LeaseNS) && (h.ReleaseNS == 0 || h.LeaseNS < h.ReleaseNS)
}

// drawLabels writes what the finding's own bars mean.
func (sc *scene) drawLabels(s *Sheet) {
	for i, h := range sc.holds[:sc.own] {
		if h.Outcome != history.OK {
			continue
		}
		y, done, believed := sc.barY(h.Client), sc.axis.x(h.DoneNS), sc.axis.x(h.BelievedNS)
		label := "no token"
		if h.Token != "" {
			label = words.Clip("token "+h.Token, 28)
		}
		if width := textWidth(label); believed-done > width+10 {
			s.text("inbar", done+6, y+14, "start", label)
		} else {
			s.text("label "+sc.holdClass(i), min(done, drawingWidth-margin-width), y-5, "start", label)
		}
		if sc.leaseEnds(h) {
			sc.beside(s, "note", sc.axis.x(h.LeaseNS), y+barHeight+14, "lease may be over")
		}
	}
	for _, f := range sc.faults {
		from, to := f.InForce(sc.axis.to)
		x, w := sc.axis.x(from), sc.axis.x(to)-sc.axis.x(from)
		if label := words.Clip(words.Fault(f, sc.axis.to), 30); w > textWidth(label)+8 {
			s.text("faultlabel", x+w/2, sc.y[f.Target]+14, "middle", label)
		}
	}
}

// beside writes a note next to a mark, on the side where there is room.
func (sc *scene) beside(s *Sheet, class string, x, y float64, note string) {
	if x+6+textWidth(note) > drawingWidth-margin {
		s.text(class, x-6, y, "end", note)
		return
	}
	s.text(class, x+6, y, "start", note)
}

// textWidth is a guess at the width of a label in the drawing's 12 px type; generous, as labels may touch nothing.
func textWidth(s string) float64 { return 6.6 * float64(len([]rune(s))) }

func holdTitle(h *model.Hold) string {
	title := fmt.Sprintf("%s was granted %s with token %s at %s, believed until %s", words.Clip(h.Client, words.MaxName), words.Clip(h.Key, words.MaxName), words.Clip(cmp.Or(h.Token, "none"), words.MaxName),
		history.Moment(h.DoneNS), history.Moment(max(h.BelievedNS, h.DoneNS)))
	if h.LeaseNS != 0 {
		title += ", lease until " + history.Moment(h.LeaseNS) + " at least"
	}
	return title
}

func (sc *scene) drawFaults(s *Sheet) {
	for _, f := range sc.faults {
		from, to := f.InForce(sc.axis.to)
		y, height := sc.y[f.Target], float64(faultLane)
		if slices.Contains(sc.lanes, f.Target) {
			height = sc.height(f.Target)
		}
		class, phrase := "fault", words.Fault(f, sc.axis.to)
		switch {
		case f.EffectiveNS == 0:
			class = "fault doubtful"
		case slices.Contains(sc.suspects, f):
			class, phrase = "fault suspect", phrase+", which the cause names"
		}
		span := "from %s to %s"
		if f.Momentary {
			span = "between %s and %s"
		}
		x, w := sc.axis.x(from), max(sc.axis.x(to)-sc.axis.x(from), 2)
		s.rect(class, x, y+3, w, height-6, fmt.Sprintf("%s %s, "+span, words.Clip(f.Target, words.MaxName), words.Clip(phrase, words.MaxName), history.Moment(from), history.Moment(to)))
	}
}

func (sc *scene) drawRequests(s *Sheet, ix *Index) {
	y := sc.resourceY + 14.0
	noted := 0.0               // where the last note ended
	var others strings.Builder // applied writes that the finding does not name, no two of them at one place
	last := math.Inf(-1)
	for _, r := range sc.requests {
		x := sc.axis.x(r.TimeNS)
		named := slices.Contains(sc.finding.Requests, r.Seq)
		class := "other"
		if h := ix.Holds[r.Hold]; h != nil {
			if i := slices.Index(sc.holds[:sc.own], h); i >= 0 {
				class = sc.holdClass(i)
			}
			if _, ok := sc.y[h.Client]; ok && (named || class != "other") {
				s.line("sent "+class, x, sc.barY(h.Client)+barHeight, x, y-6, "")
			}
		}
		title := requestTitle(r, ix.compares)
		if note := requestNote(r, ix.compares); named && r.Kind == history.KindWrite && x-textWidth(note)/2 > noted {
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
		case class == "other" && x < last+1: // as good as at the place of the last one
		case class == "other":
			last = x
			fmt.Fprintf(&others, "M%s %sa4 4 0 1 0 8 0a4 4 0 1 0-8 0", px(x-4), px(y))
		default:
			s.circle("applied "+class, x, y, 4, title)
		}
	}
	if others.Len() > 0 {
		s.path("applied other", others.String(), "")
	}
}

// requestNote stands below a request. Under compare-and-set no token decides, nor that there is none.
func requestNote(r history.Request, by history.Comparison) string {
	if by == history.CompareBases {
		return string(r.Outcome)
	}
	return string(r.Outcome) + " " + words.Clip(cmp.Or(r.Token, "no token"), 20)
}

func requestTitle(r history.Request, by history.Comparison) string {
	title := fmt.Sprintf("request %d at %s: %s of %q with token %s: %s", r.Seq, history.Moment(r.TimeNS), r.Kind, words.Clip(r.Value, 40),
		words.Clip(cmp.Or(r.Token, "none"), words.MaxName), r.Outcome)
	switch {
	case r.Outcome == history.Rejected && by != history.CompareBases:
		title += " (highest token seen: " + words.Clip(r.Mark, words.MaxName) + ")"
	case r.Outcome == history.Rejected:
		title += " (built on " + words.Clip(cmp.Or(r.Base, "the initial value"), 40) + ")"
	}
	return title
}
