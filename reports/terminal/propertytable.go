package terminal

import (
	"io"
	"slices"

	"github.com/clipperhouse/displaywidth"
	"github.com/olekukonko/tablewriter/tw"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
	"lockcheck/reports/words"
)

// The table of properties on a terminal.

const (
	minWhy = 24  // columns
	maxWhy = 240 // characters: the report has the rest
)

// propertyColumn is one of the table of properties. A narrow terminal goes without those that are dispensable.
type propertyColumn struct {
	heading     string
	cell        func(p model.Property) string
	figures     bool
	dispensable bool
}

var propertyColumns = []propertyColumn{
	{heading: "property", cell: func(p model.Property) string { return words.Plain(string(p.Name)) }},
	{heading: "verdict", cell: func(p model.Property) string { return words.FaceOf(p.Verdict).Symbol + " " + string(p.Verdict) }},
	{heading: "incidents", cell: func(p model.Property) string { return countCell(p, p.Incidents) }, figures: true},
	{heading: "findings", cell: func(p model.Property) string { return countCell(p, p.Count) }, figures: true, dispensable: true},
	{heading: "why", cell: func(p model.Property) string { return words.Plain(words.Clip(whyOf(p), maxWhy)) }},
}

func (c propertyColumn) width(r *model.Result) int {
	width := len(c.heading)
	for _, p := range r.Properties {
		width = max(width, displaywidth.String(c.cell(p)))
	}
	return width
}

// columnsWithin chooses the columns for a terminal of a width, and how much of that is left for the last.
func columnsWithin(r *model.Result, width int) (chosen []propertyColumn, last int) {
	chosen = propertyColumns
	if last = restOf(r, chosen, width); last < minWhy {
		chosen = slices.DeleteFunc(slices.Clone(chosen), func(c propertyColumn) bool { return c.dispensable })
		last = max(restOf(r, chosen, width), minWhy)
	}
	return chosen, last
}

func restOf(r *model.Result, columns []propertyColumn, width int) int {
	const gap = 2 // around what a column holds
	for _, c := range columns[:len(columns)-1] {
		width -= c.width(r) + gap
	}
	return width - gap
}

func propertyTable(w io.Writer, r *model.Result, opts SummaryOptions) error {
	columns, why := columnsWithin(r, opts.Width)
	head, align := make([]string, len(columns)), make([]tw.Align, len(columns))
	for i, c := range columns {
		head[i], align[i] = c.heading, tw.AlignLeft
		if c.figures {
			align[i] = tw.AlignRight
		}
	}
	table := NewTable(w, align, map[int]int{len(columns) - 1: why})
	table.Header(head)
	paint := painter(opts.Color)
	for _, p := range r.Properties {
		line := make([]string, len(columns))
		for i, c := range columns {
			line[i] = c.cell(p)
		}
		line[1] = paint(p.Verdict, line[1])
		if err := table.Append(line); err != nil {
			return err
		}
	}
	return table.Render()
}

// countCell is empty where nothing was there to be counted.
func countCell(p model.Property, n int64) string {
	if p.Count == 0 && p.Verdict != model.Pass {
		return ""
	}
	return history.Grouped(n)
}
