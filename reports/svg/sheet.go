// Package svg is the drawings of a report: of each finding (drawing.go, from a scene), of the whole run (timeline.go, which
// scripts draw, and stilltimeline.go, which needs none), and of figures over time (figuresovertime.go). A drawing is data, a Sheet of shapes:
// Template writes it as an element.
package svg

import (
	_ "embed"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Sheet collects the shapes of one SVG drawing. Shapes are data: the template writes them, so that every text that came
// from a history goes through the template's escaping and nowhere else.
type Sheet struct {
	ID            string // names the drawing for people who do not see it
	Title         string
	Width, Height float64
	Shapes        []Shape
}

// Shape is one element. Unused fields are empty; Class is always one of ours.
type Shape struct {
	Kind   string // rect, path, circle, text
	Class  string
	X, Y   string
	W, H   string
	D      string
	Anchor string // of a text: middle, end; it starts at its place if empty
	Text   string
	Title  string // what hovering says
}

// Template defines the template "svg", which writes a Sheet.
//
//go:embed svg.html.tmpl
var Template string

// px writes a coordinate: a tenth of a pixel is as fine as it gets.
func px(v float64) string { return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64) }

func (s *Sheet) rect(class string, x, y, w, h float64, title string) {
	s.Shapes = append(s.Shapes, Shape{Kind: "rect", Class: class, X: px(x), Y: px(y), W: px(max(w, 0)), H: px(h), Title: title})
}

func (s *Sheet) line(class string, x1, y1, x2, y2 float64, title string) {
	d := "M" + px(x1) + " " + px(y1)
	switch {
	case px(x1) == px(x2):
		d += "V" + px(y2)
	case px(y1) == px(y2):
		d += "H" + px(x2)
	default:
		d += "L" + px(x2) + " " + px(y2)
	}
	s.path(class, d, title)
}

// path adds to the shape before where that looks the same and neither has anything to say: a drawing has many such lines,
// and a report many drawings.
func (s *Sheet) path(class, d, title string) {
	if n := len(s.Shapes); n > 0 && title == "" {
		if last := &s.Shapes[n-1]; last.Kind == "path" && last.Class == class && last.Title == "" {
			last.D += d
			return
		}
	}
	s.Shapes = append(s.Shapes, Shape{Kind: "path", Class: class, D: d, Title: title})
}

func (s *Sheet) circle(class string, x, y, r float64, title string) {
	s.Shapes = append(s.Shapes, Shape{Kind: "circle", Class: class, X: px(x), Y: px(y), W: px(r), Title: title})
}

// cross is the shape of what was refused.
func (s *Sheet) cross(class string, x, y, r float64, title string) {
	s.path(class, fmt.Sprintf("M%s %sL%s %sM%s %sL%s %s", px(x-r), px(y-r), px(x+r), px(y+r), px(x-r), px(y+r), px(x+r), px(y-r)), title)
}

func (s *Sheet) text(class string, x, y float64, anchor, text string) {
	if anchor == "start" { // as it is anyway
		anchor = ""
	}
	s.Shapes = append(s.Shapes, Shape{Kind: "text", Class: class, X: px(x), Y: px(y), Anchor: anchor, Text: text})
}

// axis maps a stretch of the run to columns of a drawing. Time is never bent: what looks long was long.
type axis struct {
	from, to int64
	x0, x1   float64
}

func (a axis) x(ns int64) float64 {
	if a.to <= a.from {
		return a.x0
	}
	ns = min(max(ns, a.from), a.to)
	return a.x0 + (a.x1-a.x0)*float64(ns-a.from)/float64(a.to-a.from)
}

func (a axis) shows(from, to int64) bool { return to >= a.from && from <= a.to }

// tick is a labelled moment of an axis.
type tick struct {
	ns    int64
	label string
}

// ticks are at most n round moments.
func (a axis) ticks(n int) []tick {
	length := a.to - a.from
	if length <= 0 || n < 1 {
		return nil
	}
	step := roundStep(float64(length) / float64(n))
	decimals := max(0, int(math.Ceil(9-math.Log10(float64(step))-1e-9)))
	var out []tick
	for ns := (a.from + step - 1) / step * step; ns <= a.to; ns += step {
		out = append(out, tick{ns, strings.TrimSpace(strconv.FormatFloat(float64(ns)/1e9, 'f', decimals, 64)) + " s"})
	}
	return out
}

// drawTicks draws lines at round moments from top to bottom, and below them at a distance what moments they are.
func (s *Sheet) drawTicks(a axis, top, bottom, below float64) {
	ticks := a.ticks(10)
	for _, t := range ticks {
		s.line("grid", a.x(t.ns), top, a.x(t.ns), bottom, "")
	}
	for _, t := range ticks {
		s.text("tick", a.x(t.ns), bottom+below, "middle", t.label)
	}
}

// roundStep is the smallest of 1, 2, 5 times a power of ten that is at least ns.
func roundStep(ns float64) int64 {
	power := math.Pow(10, math.Floor(math.Log10(max(ns, 1))))
	for _, factor := range []float64{1, 2, 5} {
		if factor*power >= ns {
			return int64(factor * power)
		}
	}
	return int64(10 * power)
}
