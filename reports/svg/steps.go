package svg

import (
	"slices"
	"strconv"

	"lockcheck/checker/model"
)

// steps are the numbered marks above a finding's drawing, one for each line of its story, in rows so that none hides
// another.
type steps struct {
	rows  int
	marks []stepMark
}

type stepMark struct {
	number string
	x      float64
	row    int
	line   model.Line
}

const stepSpacing = 21 // between the centres of two marks in one row

func (sc *scene) placeSteps() steps {
	var placed steps
	var ends [maxStepRows]float64 // where each row is taken up to
	for i, line := range sc.finding.Story {
		x := sc.axis.x(line.TimeNS)
		row := slices.IndexFunc(ends[:], func(end float64) bool { return end+stepSpacing <= x })
		if row < 0 { // all taken: next to the one that ends first, a little late rather than hidden
			row = 0
			for k := range ends {
				if ends[k] < ends[row] {
					row = k
				}
			}
			x = ends[row] + stepSpacing
		}
		ends[row] = x
		placed.rows = max(placed.rows, row+1)
		placed.marks = append(placed.marks, stepMark{strconv.Itoa(i + 1), min(x, drawingWidth-margin), row, line})
	}
	return placed
}

func (p steps) markY(m stepMark) float64 {
	return margin + stepRow/2 + float64(p.rows-1-m.row)*stepRow - 4
}

// drawStepLines draws a thin line from each mark down to the lane it speaks of.
func (sc *scene) drawStepLines(s *Sheet, placed steps, bottom float64) {
	for _, m := range placed.marks {
		to := bottom
		if lane, ok := sc.laneOf(m.line); ok {
			to = lane
		}
		s.line("hair", sc.axis.x(m.line.TimeNS), placed.markY(m)+9, sc.axis.x(m.line.TimeNS), to, "")
	}
}

func (sc *scene) drawSteps(s *Sheet, placed steps) {
	for _, m := range placed.marks {
		y := placed.markY(m)
		s.circle("step", m.x, y, 9, "")
		s.text("stepnumber", m.x, y+4, "middle", m.number)
	}
}

// laneOf finds how far down a mark's line reaches: to the client it speaks of, or to the resource.
func (sc *scene) laneOf(line model.Line) (float64, bool) {
	if line.Seq != 0 {
		return sc.resourceY + 7, true
	}
	if line.Event == nil {
		return 0, false
	}
	for _, h := range sc.holds {
		if slices.Contains(h.Events(), *line.Event) {
			return sc.barY(h.Client), true
		}
	}
	for _, f := range sc.faults {
		if slices.Contains(f.Events, *line.Event) {
			return sc.y[f.Target] + 4, true
		}
	}
	return 0, false
}
