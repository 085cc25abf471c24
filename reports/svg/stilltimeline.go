package svg

import (
	"cmp"
	"fmt"
	"strings"

	"lockcheck/checker/history"
	"lockcheck/reports/words"
)

const (
	stillLane    = 26
	stillBar     = 12
	stillHeader  = 30
	stillFinding = 22
	stillLocks   = 8 // lanes of locks; the others share the last one
)

// still draws the timeline without JavaScript: for print, and for readers who have it switched off. Marks that fall on one
// column of pixels become one, so that its size does not grow with the run.
type still struct {
	*Timeline
	sheet *Sheet
	axis  axis
	names []stillName
	// The first lanes of clients and locks, and the lanes of what need not be there.
	clients, locks, faults, leaders int
}

type stillName struct{ name, class string }

// Still is the timeline as a drawing that needs no script.
func (t *Timeline) Still() *Sheet {
	s := &still{Timeline: t, sheet: &Sheet{ID: "still", Title: "Timeline of the whole run", Width: drawingWidth},
		axis: axis{from: 0, to: t.EndNS, x0: gutter, x1: drawingWidth - margin}}
	if len(t.Faults) > 0 {
		s.faults = s.lane("faults", "server")
	}
	if len(t.Leaders) > 0 {
		s.leaders = s.lane("leader", "server")
	}
	s.clients = len(s.names)
	for _, name := range t.Clients {
		s.lane(name, "client")
	}
	s.locks = len(s.names)
	for i, name := range t.Locks {
		if i == stillLocks {
			s.lane("other locks", "resource")
			break
		}
		s.lane(name, "resource")
	}
	s.frame()
	s.drawFaults()
	s.drawHolds()
	s.drawWrites()
	s.drawDisturbances(words.StallClass, t.Stalls)
	s.drawDisturbances(words.StepClass, t.Steps)
	for _, m := range t.Silences {
		x := s.axis.x(m.FromNS)
		s.sheet.rect(words.SilenceClass, x, s.y(s.clients+m.Client), max(s.axis.x(m.ToNS)-x, 1), stillLane, m.Words)
	}
	for _, f := range t.Findings {
		x, y, class := s.axis.x(f.AtNS), float64(stillHeader+10), "mark"
		if f.Masked {
			class = "mark masked"
		}
		s.sheet.path(class, fmt.Sprintf("M%s %sl5 6l-5 6l-5 -6z", px(x), px(y-6)), f.ID) // the table below says more
	}
	return s.sheet
}

func (s *still) lane(name, class string) int {
	s.names = append(s.names, stillName{name, class})
	return len(s.names) - 1
}

// y is the top of a lane.
func (s *still) y(lane int) float64 { return stillHeader + stillFinding + float64(lane)*stillLane }

func (s *still) frame() {
	bottom := s.y(len(s.names))
	s.sheet.Height = bottom + 24
	for i, phase := range s.Phases {
		x, to := s.axis.x(phase.FromNS), s.axis.x(phase.ToNS)
		if i%2 == 1 {
			s.sheet.rect("stripe", x, 0, to-x, bottom, "")
		}
		if to-x > textWidth(phase.Words)+6 {
			s.sheet.text("small", x+4, 14, "start", phase.Words)
		}
	}
	s.sheet.drawTicks(s.axis, stillHeader, bottom, 17)
	s.sheet.text("lane server", 8, stillHeader+15, "start", "findings")
	for i, lane := range s.names {
		s.sheet.line("rule", 0, s.y(i), drawingWidth, s.y(i), "")
		s.sheet.text("lane "+lane.class, 8, s.y(i)+stillLane/2+4, "start", words.Clip(lane.name, 14))
	}
}

func (s *still) drawFaults() {
	for _, f := range s.Faults {
		x := s.axis.x(f.FromNS)
		width := max(s.axis.x(f.ToNS)-x, 1)
		s.sheet.rect("fault", x, s.y(s.faults)+2, width, stillLane-4, f.Words)
		if f.Client >= 0 {
			s.sheet.rect("fault", x, s.y(s.clients+f.Client)+2, width, stillLane-4, f.Words)
		}
	}
	ends := 0.0 // where the last name ended
	for _, l := range s.Leaders {
		x, to := s.axis.x(l.FromNS), s.axis.x(l.ToNS)
		if l.Words != "" {
			s.sheet.rect("hold other", x, s.y(s.leaders)+stillLane-6, max(to-x, 1), 3, l.Words+" leads")
		}
		if name := words.Clip(cmp.Or(l.Words, "none"), 14); x > ends && to-x > textWidth(name)/2 {
			s.sheet.text("small", x+2, s.y(s.leaders)+stillLane/2+2, "start", name)
			ends = x + textWidth(name)
		}
	}
}

func (s *still) drawHolds() {
	paths := make([]strings.Builder, len(s.Clients))
	ends := make([]float64, len(s.Clients)) // where the last bar of each lane ended
	for _, h := range s.holds {
		if h.part != partNone || !h.granted {
			continue
		}
		from, to := s.axis.x(h.doneNS), s.axis.x(h.believedNS)
		if from, to = max(from, ends[h.client]), max(to, from+0.8); to-from < 0.4 {
			continue
		}
		ends[h.client] = to
		fmt.Fprintf(&paths[h.client], "M%s %sH%s", px(from), px(s.barY(h.client)+stillBar/2), px(to))
	}
	for i := range paths {
		if paths[i].Len() > 0 {
			s.sheet.path("bars", paths[i].String(), "")
		}
	}
	for _, h := range s.holds {
		if h.part != partNone && h.granted {
			x := s.axis.x(h.doneNS)
			s.sheet.rect("hold "+h.part.class(), x, s.barY(h.client), max(s.axis.x(h.believedNS)-x, 1.5), stillBar, "")
		}
	}
}

func (s *still) drawDisturbances(class string, marks []TimelineMark) {
	for _, m := range marks {
		x := s.axis.x(m.FromNS)
		s.sheet.rect(class, x, s.y(0), max(s.axis.x(m.ToNS)-x, 1), s.y(len(s.names))-s.y(0), m.Words)
	}
}

func (s *still) barY(client int) float64 { return s.y(s.clients+client) + (stillLane-stillBar)/2 }

func (s *still) drawWrites() {
	type spot struct {
		column, lock int
		outcome      history.Outcome
		part         part
	}
	seen := map[spot]bool{}
	var others strings.Builder // applied writes that no finding names
	for _, w := range s.writes {
		x := s.axis.x(w.timeNS)
		lock := min(w.lock, stillLocks)
		at := spot{int(x / 2), lock, w.outcome, w.part}
		if seen[at] {
			continue
		}
		seen[at] = true
		y := s.y(min(s.locks+lock, len(s.names)-1)) + stillLane/2
		switch {
		case w.outcome == history.Rejected:
			s.sheet.cross("rejected", x, y, 3.5, "")
		case w.part != partNone:
			s.sheet.circle("applied named "+w.part.class(), x, y, 4, "")
		default:
			fmt.Fprintf(&others, "M%s %sh0", px(x), px(y))
		}
	}
	if others.Len() > 0 {
		s.sheet.path("dots", others.String(), "")
	}
}
