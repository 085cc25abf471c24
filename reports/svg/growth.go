package svg

import (
	"fmt"
	"strings"
)

// Growth is a line of a growth drawing: how much there was after so many. Class is its look.
type Growth struct {
	Class string
	After []int // 1, 2, … of what is counted across
}

const growthHeight = 190

// NewGrowth draws how amounts grow by count, not by time, so that lines can be compared after the same number. It is nil without points.
func NewGrowth(id, title, across string, lines ...Growth) *Sheet {
	most, high := 0, 1
	for _, l := range lines {
		most = max(most, len(l.After))
		for _, n := range l.After {
			high = max(high, n)
		}
	}
	if most == 0 {
		return nil
	}
	const top, left, right = 12, 60, drawingWidth - margin
	bottom := float64(top + growthHeight)
	s := &Sheet{ID: id, Title: title, Width: drawingWidth, Height: bottom + 42}
	upright := fromZero(float64(high), shortNumber)
	y := func(v float64) float64 { return bottom - growthHeight*upright.share(v) }
	level := axis{from: 0, to: int64(most), x0: left, x1: right}
	step := roundStep(float64(most) / 10)
	for i := int64(0); i <= int64(most); i += step {
		s.line("grid", level.x(i), top, level.x(i), bottom, "")
	}
	for i := int64(0); i <= int64(most); i += step {
		s.text("tick", level.x(i), bottom+16, "middle", fmt.Sprint(i))
	}
	s.text("tick", right, bottom+34, "end", across)
	for _, t := range upright.ticks() {
		s.line("rule", left, y(t.at), right, y(t.at), "")
		s.text("tick", left-6, y(t.at)+4, "end", t.label)
	}
	for _, l := range lines {
		if len(l.After) == 0 {
			continue
		}
		var d strings.Builder
		fmt.Fprintf(&d, "M%s %s", px(level.x(0)), px(y(0)))
		for i, n := range l.After {
			if last := i+1 == len(l.After); last || i == 0 || n != l.After[i-1] || n != l.After[i+1] {
				fmt.Fprintf(&d, "L%s %s", px(level.x(int64(i+1))), px(y(float64(n))))
			}
		}
		s.path(l.Class, d.String(), "")
	}
	return s
}
