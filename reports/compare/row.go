package compare

import (
	"fmt"
	"strings"

	"lockcheck/checker"
	"lockcheck/reports"
)

// row is a cell in words, the same on a terminal, in Markdown and on the page.
type row struct {
	Result
	Shape, Class string
	Verdict      string // in words
	Count        string
	First        string
	Runs         string
	Ops          string
	Availability string
	Exposure     string
	Expected     string
}

// columns are the headings of rows; the verdict's is the column that colour repeats.
var columns = []string{"backend", "nemesis", "workload", "verdict", "count", "first", "violated runs", "operations", "available", "exposure", "expected"}

func newRow(r Result) row {
	w := row{Result: r, Shape: reports.Shape(r.Verdict), Class: reports.Class(r.Verdict), Verdict: string(r.Verdict)}
	switch r.Outcome {
	case Failed:
		w.Verdict = "could not be run"
	case NotRun:
		w.Verdict = "not run"
	}
	if w.Expected = expectedWords(r); r.Made == 0 {
		return w
	}
	w.Count = reports.Grouped(r.Count)
	if r.Masked > 0 {
		w.Count += ", " + reports.Grouped(r.Masked) + " masked"
	}
	if w.First = "–"; r.FirstNS != nil {
		w.First = reports.Clock(*r.FirstNS)
	}
	w.Runs = shareWords(r.Violated, r.Conclusive)
	if r.StoppedEarly {
		w.Runs += "*"
	}
	if unknown := r.Made - r.Conclusive; unknown > 0 && r.Conclusive > 0 {
		w.Runs += fmt.Sprintf(", %d inconclusive", unknown)
	}
	w.Ops = reports.Grouped(r.Ops)
	w.Availability = reports.Percent(r.Availability)
	w.Exposure = exposureWords(r.Exposure)
	return w
}

func expectedWords(r Result) string {
	switch {
	case r.Expectation == nil:
		return "–"
	case r.Outcome == Met:
		return "✓ met"
	case r.Outcome == Unmet:
		return "✗ not met"
	}
	return "? unknown"
}

// exposureWords is what had to happen and how often it did: "contended grants: 113, pauses past the lease: 2".
func exposureWords(exposure []checker.Exposure) string {
	words := make([]string, 0, len(exposure))
	for _, e := range exposure {
		words = append(words, strings.ReplaceAll(reports.Plain(e.Name), "-", " ")+": "+reports.Grouped(e.Count))
	}
	return strings.Join(words, ", ")
}

func (w row) cells() []string {
	cells := []string{w.Cell.Backend, w.Cell.Nemesis, w.Cell.Workload, w.Shape + " " + w.Verdict, w.Count, w.First, w.Runs, w.Ops,
		w.Availability, w.Exposure, w.Expected}
	for i, c := range cells {
		cells[i] = reports.Plain(c)
	}
	return cells
}

func rows(results []Result) []row {
	all := make([]row, len(results))
	for i, r := range results {
		all[i] = newRow(r)
	}
	return all
}

// notes are said below every table.
func (c *Comparison) notes() []string {
	notes := []string{"violated runs: of those that could tell, with the 95 % interval after Wilson; none of n runs is a bound, not safety"}
	for _, cell := range c.Cells {
		if cell.StoppedEarly {
			return append(notes, "* runs were repeated until the expected violations had come; such a share leans upwards")
		}
	}
	return notes
}
