package svg

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"lockcheck/checker/model"
	"lockcheck/reports/words"
)

// plot is a drawing of figures over the time of the run: panels below each other on one axis of time, and above them when
// faults were in force, which is shaded all the way down. Its size does not grow with the run.
//
//	pause     ▨▨    ▨▨▨▨         ▨▨
//	ok/s   80 ┤  ╭─╮░░░░╭──╮░░░░
//	          │╭─╯ ╰─░░░╯  ╰──────
//	        0 ┼──────────────────
//	         0 s    10 s    20 s
type plot struct {
	sheet *Sheet
	axis  axis
	y     float64 // where the next panel begins
}

const (
	plotFault = 17 // height of the row of one kind of fault
	plotPanel = 88
	plotGap   = 24
	plotFoot  = 24
)

// newPlot draws the faults for panels of a number known beforehand.
func newPlot(id, title string, m *model.Model, panels int) *plot {
	p := &plot{
		sheet: &Sheet{ID: id, Title: title, Width: drawingWidth},
		axis:  axis{from: 0, to: max(m.EndNS, 1), x0: gutter, x1: drawingWidth - margin},
	}
	bands := faultBands(m, p.axis)
	top := 4 + float64(len(bands))*plotFault
	bottom := top + plotGap + float64(panels)*(plotPanel+plotGap) - plotGap
	p.sheet.Height = bottom + plotFoot
	p.sheet.drawTicks(p.axis, top, bottom, 16)
	for i, b := range bands {
		y := 4 + float64(i)*plotFault
		p.sheet.text("lane server", 8, y+plotFault/2+4, "start", words.Clip(b.name, 14))
		p.sheet.path("fault", boxes(b.at, y+2, plotFault-4), "")
		p.sheet.path("shade", boxes(b.at, top, bottom-top), "")
	}
	p.y = top + plotGap
	return p
}

// band is when faults of one kind were in force, in columns of a drawing, joined where they touch.
type band struct {
	name string
	at   [][2]float64
}

// maxBands bounds the rows; kinds beyond are joined into the last.
const maxBands = 6

func faultBands(m *model.Model, a axis) (bands []band) {
	for _, f := range m.Faults {
		if f.EffectiveNS == 0 {
			continue
		}
		i := slices.IndexFunc(bands, func(b band) bool { return b.name == string(f.Name) })
		switch {
		case i < 0 && len(bands) < maxBands:
			i, bands = len(bands), append(bands, band{name: string(f.Name)})
		case i < 0:
			i, bands[maxBands-1].name = maxBands-1, "others"
		}
		from, to := f.InForce(m.EndNS)
		// Whole columns: no two of what is drawn are in one, so that there are no more of them than columns.
		bands[i].at = append(bands[i].at, [2]float64{math.Floor(a.x(from)), math.Ceil(max(a.x(to), a.x(from)+1))})
	}
	for i := range bands {
		bands[i].at = united(bands[i].at)
	}
	return bands
}

func united(spans [][2]float64) (out [][2]float64) {
	slices.SortFunc(spans, func(a, b [2]float64) int { return slices.Compare(a[:], b[:]) })
	for _, s := range spans {
		if n := len(out); n > 0 && s[0] <= out[n-1][1] {
			out[n-1][1] = max(out[n-1][1], s[1])
		} else {
			out = append(out, s)
		}
	}
	return out
}

func boxes(spans [][2]float64, y, height float64) string {
	var d strings.Builder
	for _, s := range spans {
		fmt.Fprintf(&d, "M%s %sH%sV%sH%sz", px(s[0]), px(y), px(s[1]), px(y+height), px(s[0]))
	}
	return d.String()
}

// panel is one strip of a plot, with a scale of its own.
type panel struct {
	*plot
	top   float64
	scale scale
}

// panel adds the next strip.
func (p *plot) panel(name string, s scale) *panel {
	n := &panel{plot: p, top: p.y, scale: s}
	p.y += plotPanel + plotGap
	for i, word := range strings.SplitN(name, "\n", 3) {
		class := "lane server"
		if i == 0 {
			class = "lane"
		}
		p.sheet.text(class, 8, n.top+16+float64(i)*15, "start", words.Clip(word, 14))
	}
	for _, t := range s.ticks() {
		y := n.at(t.at)
		p.sheet.line("rule", p.axis.x0, y, p.axis.x1, y, "")
		p.sheet.text("tick", p.axis.x0-5, y+4, "end", t.label)
	}
	return n
}

// point is a value at a moment; a line breaks where one is not known.
type point struct {
	ns    int64 // its middle, if it stands for a stretch of time
	v     float64
	known bool
}

func (n *panel) at(v float64) float64 { return n.top + plotPanel*(1-n.scale.share(v)) }

// line joins the known points. One that stands alone is drawn as a dash.
func (n *panel) line(class string, points []point) {
	var d strings.Builder
	for i, p := range points {
		if !p.known {
			continue
		}
		x, y := n.axis.x(p.ns), n.at(p.v)
		switch {
		case i > 0 && points[i-1].known:
			fmt.Fprintf(&d, "L%s %s", px(x), px(y))
		case i+1 < len(points) && points[i+1].known:
			fmt.Fprintf(&d, "M%s %s", px(x), px(y))
		default:
			fmt.Fprintf(&d, "M%s %sh4", px(x-2), px(y))
		}
	}
	if d.Len() > 0 {
		n.sheet.path(class, d.String(), "")
	}
}

// steps fills from the ground up to each point's value, from one point of ends to the next.
func (n *panel) steps(class string, points []point, ends []int64) {
	var d strings.Builder
	for i, p := range points {
		if p.known {
			from, to := n.axis.x(ends[i]), n.axis.x(ends[i+1])
			fmt.Fprintf(&d, "M%s %sV%sH%sV%sz", px(from), px(n.top+plotPanel), px(n.at(p.v)), px(to), px(n.top+plotPanel))
		}
	}
	if d.Len() > 0 {
		n.sheet.path(class, d.String(), "")
	}
}

// between fills what lies between two lines.
func (n *panel) between(class string, low, high []point) {
	var d strings.Builder
	for i := 0; i < len(low); i++ {
		from := i
		for i < len(low) && low[i].known {
			i++
		}
		if i-from < 2 {
			continue
		}
		verb := "M"
		for _, p := range high[from:i] {
			fmt.Fprintf(&d, "%s%s %s", verb, px(n.axis.x(p.ns)), px(n.at(p.v)))
			verb = "L"
		}
		for _, p := range slices.Backward(low[from:i]) {
			fmt.Fprintf(&d, "L%s %s", px(n.axis.x(p.ns)), px(n.at(p.v)))
		}
		d.WriteString("z")
	}
	if d.Len() > 0 {
		n.sheet.path(class, d.String(), "")
	}
}

// marks draws one shape at each point.
func (n *panel) marks(class, Shape string, points []point) {
	var d strings.Builder
	for _, p := range points {
		if p.known {
			fmt.Fprintf(&d, "M%s %s%s", px(n.axis.x(p.ns)), px(n.at(p.v)), Shape)
		}
	}
	if d.Len() > 0 {
		n.sheet.path(class, d.String(), "")
	}
}

// level is a line across the panel at one value.
func (n *panel) level(class string, v float64, phrase string) {
	if v <= 0 || v > n.scale.high {
		return
	}
	n.sheet.line(class, n.axis.x0, n.at(v), n.axis.x1, n.at(v), "")
	n.sheet.text("note", n.axis.x1-4, n.at(v)-4, "end", phrase)
}

// scale maps a quantity to a share of a panel's height: from 0 on, or by powers of ten.
type scale struct {
	low, high float64
	log       bool
	unit      func(v float64) string
}

// fromZero is a scale that ends at a round number.
func fromZero(high float64, unit func(v float64) string) scale {
	return scale{high: float64(roundStep(high)), unit: unit}
}

// byTens is a scale of durations by powers of ten around what is to be shown, three of them at least.
func byTens(low, high int64) scale {
	s := scale{low: math.Pow(10, math.Floor(math.Log10(float64(max(low, 1e3))))), log: true, unit: roundSpan}
	s.high = max(math.Pow(10, math.Ceil(math.Log10(float64(max(high, 1))))), s.low*1000)
	return s
}

func (s scale) share(v float64) float64 {
	share := (v - s.low) / (s.high - s.low)
	if s.log {
		share = math.Log10(max(v, s.low)/s.low) / math.Log10(s.high/s.low)
	}
	return min(max(share, 0), 1)
}

type scaleTick struct {
	at    float64
	label string
}

func (s scale) ticks() (ticks []scaleTick) {
	if !s.log {
		for _, share := range []float64{0, 0.5, 1} {
			ticks = append(ticks, scaleTick{s.high * share, s.unit(s.high * share)})
		}
		return ticks
	}
	tens := int(math.Round(math.Log10(s.high / s.low)))
	every := (tens + 3) / 4 // at most five labels
	for i := 0; i <= tens; i += every {
		v := s.low * math.Pow(10, float64(i))
		ticks = append(ticks, scaleTick{v, s.unit(v)})
	}
	return ticks
}

// roundSpan writes a round duration in nanoseconds without decimals that say nothing: "10 ms".
func roundSpan(v float64) string {
	if v == 0 {
		return "0"
	}
	for _, u := range []struct {
		ns   float64
		name string
	}{{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}} {
		if v >= u.ns {
			return shortNumber(v/u.ns) + " " + u.name
		}
	}
	return shortNumber(v) + " ns"
}

// shortNumber has at most two decimals, and none that are zero.
func shortNumber(v float64) string {
	text := fmt.Sprintf("%.2f", v)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}
