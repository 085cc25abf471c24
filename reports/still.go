package reports

import (
	"fmt"
	"strings"

	"lockcheck/checker/history"
)

const (
	stillLane    = 26
	stillBar     = 12
	stillHeader  = 30
	stillFinding = 22
)

// still draws the timeline without JavaScript: for print, and for whoever has it switched off. Marks that fall on one
// column of pixels become one, so that its size does not grow with the run.
func (t *timeline) still() *sheet {
	s := &sheet{ID: "still", Title: "Timeline of the whole run", Width: drawingWidth}
	a := axis{from: 0, to: t.EndNS, x0: gutter, x1: drawingWidth - margin}
	top := float64(stillHeader + stillFinding)
	bottom := top + float64(len(t.Lanes))*stillLane
	s.Height = bottom + 24
	for i, phase := range t.Phases {
		x, to := a.x(phase.FromNS), a.x(phase.ToNS)
		if i%2 == 1 {
			s.rect("stripe", x, 0, to-x, bottom, "")
		}
		if to-x > textWidth(phase.Words)+6 {
			s.text("small", x+4, 14, "start", phase.Words)
		}
	}
	for _, mark := range a.ticks(10) {
		s.line("grid", a.x(mark.ns), stillHeader, a.x(mark.ns), bottom, "")
		s.text("tick", a.x(mark.ns), bottom+17, "middle", mark.label)
	}
	for i, lane := range t.Lanes {
		y := top + float64(i)*stillLane
		s.line("rule", 0, y, drawingWidth, y, "")
		s.text("lane "+lane.Kind, 8, y+stillLane/2+4, "start", clip(lane.Name, 14))
	}
	for _, f := range t.Faults {
		x := a.x(f.FromNS)
		s.rect("fault", x, top+float64(f.Lane)*stillLane+2, max(a.x(f.ToNS)-x, 1), stillLane-4, f.Words)
	}
	t.stillHolds(s, a, top)
	t.stillWrites(s, a, top)
	for _, stall := range t.Stalls {
		x := a.x(stall.FromNS)
		s.rect("stall", x, top, max(a.x(stall.ToNS)-x, 1), bottom-top, stall.Words)
	}
	s.text("lane server", 8, stillHeader+15, "start", "findings")
	for _, f := range t.Findings {
		x, y, class := a.x(f.AtNS), float64(stillHeader+10), "mark"
		if f.Masked {
			class = "mark masked"
		}
		s.path(class, fmt.Sprintf("M%s %sl5 6l-5 6l-5 -6z", px(x), px(y-6)), clock(f.AtNS)+" "+f.ID+": "+f.Summary)
	}
	return s
}

func (t *timeline) stillHolds(s *sheet, a axis, top float64) {
	paths := make([]strings.Builder, len(t.Lanes))
	ends := make([]float64, len(t.Lanes)) // where the last bar of each lane ended
	for _, h := range t.Holds {
		from, to := a.x(h.DoneNS), a.x(h.BelievNS)
		from, to = max(from, ends[h.Lane]), max(to, from+0.8)
		y := top + float64(h.Lane)*stillLane + (stillLane-stillBar)/2
		if h.Part != partNone || to-from < 0.4 {
			continue
		}
		ends[h.Lane] = to
		fmt.Fprintf(&paths[h.Lane], "M%s %sh%sv%dh-%sz", px(from), px(y), px(to-from), stillBar, px(to-from))
	}
	for i := range paths {
		if paths[i].Len() > 0 {
			s.path("hold other", paths[i].String(), "")
		}
	}
	for _, h := range t.Holds {
		if h.Part != partNone {
			x, y := a.x(h.DoneNS), top+float64(h.Lane)*stillLane+(stillLane-stillBar)/2
			s.rect("hold "+h.Part.class(), x, y, max(a.x(h.BelievNS)-x, 1.5), stillBar, "")
		}
	}
}

func (t *timeline) stillWrites(s *sheet, a axis, top float64) {
	y := top + float64(len(t.Lanes)-1)*stillLane + stillLane/2
	type spot struct {
		column  int
		outcome history.Outcome
		part    part
	}
	seen := map[spot]bool{}
	for _, w := range t.Writes {
		x := a.x(w.TimeNS)
		at := spot{int(x / 2), w.Outcome, w.Part}
		if seen[at] {
			continue
		}
		seen[at] = true
		switch {
		case w.Outcome == history.Rejected:
			s.cross("rejected", x, y, 3.5, "")
		case w.Part != partNone:
			s.circle("applied named "+w.Part.class(), x, y, 4, "")
		default:
			s.circle("applied other", x, y, 2, "")
		}
	}
}
