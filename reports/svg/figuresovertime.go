package svg

import (
	"cmp"
	"fmt"
	"slices"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
	"lockcheck/reports/rundir"
	"lockcheck/reports/words"
)

// Chart is one figure over time, and the same as a table.
type Chart struct {
	ID, Title string
	Legend    []Legend
	Sheet     *Sheet // nil if there is nothing to draw
	Empty     string // what that means
	Head      []string
	Rows      [][]string
	LeftOut   string // of the table
}

// Legend says what a shape stands for.
type Legend struct{ Class, Symbol, Words string }

var faultLegend = Legend{Class: "sw fault", Words: "fault in force"}

// Charts are the figures over time: none of them is a verdict, and each is bounded whatever the length of the run.
func Charts(j rundir.Judgement) []Chart {
	return []Chart{
		paceChart(j),
		latencyChart(j, "latencies", "How long operations took", timedOperations(j, history.Read, history.Write, history.Renew, history.Release)),
		latencyChart(j, "waits", "How long clients waited for the lock", timedOperations(j, history.Acquire)),
		delayChart(j, delays{
			id: "losses", title: "How long after another's grant an old holder was told", all: j.Model.Series.LossSignals, summary: j.Result.Stats.LossSignal,
			panel: "told after", empty: "No client was told late: no old holder got a loss signal after another client had been granted its lock.",
		}),
		delayChart(j, delays{
			id: "takeovers", title: "How long it took to take over a lock after its holder died or a fault hit it", all: j.Model.Series.TakeOvers,
			summary: j.Result.Stats.TakeOver, panel: "taken over", level: j.Plan.EffectiveMS * 1e6, byAfter: true,
			empty: "No lock was taken over from a holder that died or that a fault hit.",
		}),
	}
}

// window is where a window of the series begins, and how much of it is within the run.
func window(j rundir.Judgement, i int) (from, length int64) {
	s := j.Model.Series
	from = int64(i) * s.WindowNS
	return from, max(min(s.WindowNS, j.Model.EndNS-from), 1)
}

func windowCells(j rundir.Judgement, i int) []string {
	from, length := window(j, i)
	return []string{history.Moment(from), history.Moment(from + length)}
}

// paceChart is throughput and availability.
func paceChart(j rundir.Judgement) Chart {
	c := Chart{ID: "pace", Title: "Throughput and availability", Empty: "No operation was completed.",
		Head: []string{"from", "to", "ok per second", "failed per second", "unknown per second", "available"},
		Legend: []Legend{{Class: "sw area", Words: "operations that succeeded, per second"}, {Class: "sw dashes", Words: "operations that failed or whose outcome is unknown, per second"},
			{Class: "sw free", Words: "share of the time in which the lock could be had, while clients worked"}, faultLegend}}
	windows := j.Model.Series.Windows
	if len(windows) == 0 {
		return c
	}
	var ok, bad, free []point
	highest, ends := 1.0, []int64{0}
	for i, w := range windows {
		from, length := window(j, i)
		seconds := float64(length) / 1e9
		rate := func(n int64) float64 { return float64(n) / seconds }
		middle := from + length/2
		ends = append(ends, from+length)
		ok = append(ok, point{middle, rate(w.OK), true})
		bad = append(bad, point{middle, rate(w.Fail + w.Info), true})
		free = append(free, point{middle, float64(w.AvailableNS) / float64(max(w.LoadNS, 1)), w.LoadNS > 0})
		highest = max(highest, rate(w.OK), rate(w.Fail+w.Info))
		available := "–"
		if w.LoadNS > 0 {
			available = words.Percent(free[i].v)
		}
		c.Rows = append(c.Rows, append(windowCells(j, i), shortNumber(rate(w.OK)), shortNumber(rate(w.Fail)), shortNumber(rate(w.Info)), available))
	}
	p := newPlot(c.ID, fmt.Sprintf("%s over the run: at most %s operations per second succeeded; the lock was available %s of the time",
		c.Title, shortNumber(highest), words.Percent(j.Result.Stats.Availability)), j.Model, 2)
	pace := p.panel("per second", fromZero(highest, shortNumber))
	pace.steps("area", ok, ends)
	pace.line("dashes", bad)
	p.panel("available", scale{high: 1, unit: func(v float64) string { return shortNumber(100*v) + " %" }}).
		steps("free", free, ends)
	c.Sheet = p.sheet
	return c
}

// timedOperations are those of the functions given that succeeded at all.
func timedOperations(j rundir.Judgement, all ...history.F) []history.F {
	return slices.DeleteFunc(all, func(f history.F) bool {
		return !slices.ContainsFunc(j.Model.Series.Windows, func(w model.SeriesWindow) bool { return w.Latency[f].Count > 0 })
	})
}

// latencyChart has a panel for each operation: the median, 95 % and the longest, by window.
func latencyChart(j rundir.Judgement, id, title string, operations []history.F) Chart {
	c := Chart{ID: id, Title: title, Empty: "None of them succeeded.",
		Head: []string{"from", "to", "operation", "succeeded", "median", "95 %", "99 %", "longest"},
		Legend: []Legend{{Class: "sw median", Words: "median"}, {Class: "sw spread", Words: "up to 95 %"}, {Symbol: "+", Words: "longest"}, faultLegend,
			{Words: "The upright axis goes by powers of ten."}}}
	if len(operations) == 0 {
		return c
	}
	phrase := title + ":"
	for _, f := range operations {
		q := j.Result.Stats.Latency[string(f)]
		phrase += fmt.Sprintf(" %s %s in the median, %s at most.", f, history.Duration(q.P50NS), history.Duration(q.MaxNS))
		if f == history.Write {
			c.Legend = append(c.Legend, Legend{Words: "A write takes the work under the lock, too."})
		}
	}
	p := newPlot(id, phrase, j.Model, len(operations))
	for _, f := range operations {
		least, most := int64(1<<62), int64(0)
		var median, spread, longest []point
		for i, w := range j.Model.Series.Windows {
			q := w.Latency[f]
			known := q.Count > 0
			from, length := window(j, i)
			middle := from + length/2
			median, spread = append(median, point{middle, float64(q.P50NS), known}), append(spread, point{middle, float64(q.P95NS), known})
			longest = append(longest, point{middle, float64(q.MaxNS), known})
			if known {
				least, most = min(least, q.P50NS), max(most, q.MaxNS)
				c.Rows = append(c.Rows, append(windowCells(j, i), string(f), history.Grouped(q.Count), history.Duration(q.P50NS), history.Duration(q.P95NS), history.Duration(q.P99NS), history.Duration(q.MaxNS)))
			}
		}
		n := p.panel(string(f), byTens(least, most))
		n.between("spread", median, spread)
		n.line("median", median)
		n.marks("longest", "m-3 0h6m-3 -3v6", longest)
	}
	c.Sheet = p.sheet
	return c
}

// delays are what a delayChart shows.
type delays struct {
	id, title, panel, empty string
	all                     []model.Delay
	summary                 model.Quantiles
	level                   int64 // the lease, to compare with; 0: not shown
	byAfter                 bool  // they differ in what had happened
}

// shape is how the delays are drawn whose Delay.After is after.
type shape struct{ after, symbol, path string }

// faultShapes are for the faults that stand first in the table of faults (checker/history/faults.go), in its order. All
// others share a shape.
var faultShapes = []shape{
	{symbol: "○", path: "m-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0"},
	{symbol: "□", path: "m-4 -4h8v8h-8z"},
}

// afterShapes tell apart what a lock was taken over after; whatever has no shape of its own is drawn as the last.
func afterShapes() []shape {
	all := []shape{{model.AfterDeath, "✕", "m-4 -4l8 8m-8 0l8 -8"}}
	for i, fault := range history.Faults()[:len(faultShapes)] {
		all = append(all, shape{fault.One, faultShapes[i].symbol, faultShapes[i].path})
	}
	return append(all, shape{"", "△", "m0 -5l4.5 8h-9z"})
}

// maxDelayRows bounds the table of single delays: the longest are in it.
const maxDelayRows = 100

func delayChart(j rundir.Judgement, d delays) Chart {
	c := Chart{ID: d.id, Title: d.title, Empty: d.empty, Head: []string{"from", "took", "old holder", "next holder", "lock"}}
	if d.byAfter {
		c.Head = append(c.Head, "after")
	}
	if len(d.all) == 0 {
		return c
	}
	longest := d.level
	shapes := faultShapes[:1] // where all are alike
	if d.byAfter {
		shapes = afterShapes()
	}
	byShape := make([][]point, len(shapes))
	for _, one := range d.all {
		longest = max(longest, one.DelayNS)
		i := slices.IndexFunc(shapes, func(s shape) bool { return s.after == one.After })
		if i < 0 {
			i = len(shapes) - 1
		}
		byShape[i] = append(byShape[i], point{one.FromNS, float64(one.DelayNS), true})
	}
	q := d.summary
	p := newPlot(d.id, fmt.Sprintf("%s: %s, %s in the median, %s at most", d.title, history.Counted(q.Count, "time", "times"), history.Duration(q.P50NS), history.Duration(q.MaxNS)), j.Model, 1)
	n := p.panel(d.panel, fromZero(float64(longest), roundSpan))
	if d.level > 0 {
		n.level("level", float64(d.level), "lease "+history.Duration(d.level))
	}
	for i, points := range byShape {
		if len(points) == 0 {
			continue
		}
		n.marks("takeover", shapes[i].path, points)
		phrase := "told so long after the grant"
		if d.byAfter {
			phrase = "after a " + cmp.Or(shapes[i].after, "fault of another kind")
		}
		c.Legend = append(c.Legend, Legend{Symbol: shapes[i].symbol, Words: phrase})
	}
	c.Legend = append(c.Legend, faultLegend)
	c.Sheet = p.sheet
	rows := slices.Clone(d.all)
	slices.SortStableFunc(rows, func(a, b model.Delay) int { return int(min(max(b.DelayNS-a.DelayNS, -1), 1)) })
	for _, one := range rows[:min(len(rows), maxDelayRows)] {
		row := []string{history.Moment(one.FromNS), history.Duration(one.DelayNS), words.Clip(one.Client, words.MaxName), words.Clip(one.Next, words.MaxName), words.Clip(one.Key, words.MaxName)}
		if d.byAfter {
			row = append(row, words.Clip(one.After, words.MaxName))
		}
		c.Rows = append(c.Rows, row)
	}
	if left := q.Count - int64(len(c.Rows)); left > 0 {
		c.LeftOut = fmt.Sprintf("The longest of %s.", history.Grouped(q.Count))
	}
	return c
}
