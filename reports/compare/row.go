package compare

import (
	"fmt"
	"slices"
	"strings"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
	"lockcheck/reports/words"
)

// row is a cell in words, the same on a terminal, in Markdown and on the page.
type row struct {
	Result
	Shape, Class string // of the outcome
	Standing     string // the outcome in words
	Verdict      string // the worst of the runs
	Marks        string // of the layers
	Found        string // incidents, with the findings behind them
	First        string
	Runs         string
	Ops          string
	Availability string
	Exposure     string
	Queueing     string // requests for each grant; "" where no client tells
}

// column is one column of the table of cells, on a terminal and in Markdown.
type column struct {
	head     string
	cell     func(row) string
	figure   bool // aligned to the right
	maxWidth int  // in characters, over which it is broken into lines; 0 is any
	leave    int  // a narrow terminal goes without the columns that have one, 1 first; the page has them all

	page string // the style of its cells on the page, whose template draws some by it
}

// Head and Style are for the page's template.
func (c column) Head() string { return c.head }
func (c column) Style() string {
	if c.figure {
		return "n"
	}
	return c.page
}

// outcome is the column that colour repeats.
const outcome = "outcome"

var columns = []column{
	{head: "backend", cell: func(w row) string { return w.Cell.Backend }},
	{head: "nemesis", cell: func(w row) string { return w.Cell.Nemesis }, maxWidth: 30},
	{head: "workload", cell: func(w row) string { return w.load() }},
	{head: outcome, cell: func(w row) string { return w.Shape + " " + w.Standing }, page: outcome},
	{head: "verdict", cell: func(w row) string { return w.Verdict }},
	{head: "layers", cell: func(w row) string { return w.Marks }, page: "layers"},
	{head: "found", cell: func(w row) string { return w.Found }, maxWidth: 26, leave: 5, page: "found"},
	{head: "first", cell: func(w row) string { return w.First }, figure: true, leave: 4},
	{head: "violated runs", cell: func(w row) string { return w.Runs }, maxWidth: 26, leave: 6, page: "n"},
	{head: "operations", cell: func(w row) string { return w.Ops }, figure: true, leave: 3},
	{head: "available", cell: func(w row) string { return w.Availability }, figure: true, leave: 2},
	{head: "exposure", cell: func(w row) string { return w.Exposure }, maxWidth: 30, leave: 1, page: "exposure"},
}

func heads(shown []column) []string {
	all := make([]string, len(shown))
	for i, c := range shown {
		all[i] = c.head
	}
	return all
}

func newRow(r Result) row {
	w := row{Result: r, Shape: r.face().Symbol, Class: r.face().Class, Standing: r.standing(), Verdict: string(r.Verdict)}
	if r.Made == 0 {
		w.Verdict = "–"
		return w
	}
	w.Marks = layerWords(r.Layers())
	w.Found = foundWords(r)
	if w.First = "–"; r.FirstNS != nil {
		w.First = history.Moment(*r.FirstNS)
	}
	w.Runs = r.violatedRate().String()
	if r.StoppedEarly {
		w.Runs += "*"
	}
	if unknown := r.Made - r.Conclusive; unknown > 0 && r.Conclusive > 0 {
		w.Runs += fmt.Sprintf(", %d inconclusive", unknown)
	}
	for i, p := range r.Rates {
		w.Runs += fmt.Sprintf("; %s: %s", p.Property, r.allRates()[i+1])
	}
	w.Ops = history.Grouped(r.Ops)
	w.Availability = words.Percent(r.Availability)
	w.Exposure = exposureWords(r.Exposure)
	w.Queueing = words.QueueingOfRuns(r.AttemptsPerGrant, r.Overtakes)
	return w
}

// foundWords are such as "2 incidents, 74 findings", or "0 incidents; masked: 3 incidents, 14 findings".
func foundWords(r Result) string {
	phrase := words.Found(r.Incidents, r.Count)
	if r.Masked > 0 {
		phrase += "; masked: " + words.Found(r.MaskedIncidents, r.Masked)
	}
	return phrase
}

// exposureWords is what had to happen and how often it did: "contended grants: 113, pauses past the lease: 2".
func exposureWords(exposure []model.Exposure) string {
	parts := make([]string, 0, len(exposure))
	for _, e := range exposure {
		parts = append(parts, strings.ReplaceAll(words.Plain(e.Name), "-", " ")+": "+history.Grouped(e.Count))
	}
	return strings.Join(parts, ", ")
}

func (w row) cells(shown []column) []string {
	all := make([]string, len(shown))
	for i, c := range shown {
		all[i] = words.Plain(c.cell(w))
	}
	return all
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
	notes := []string{"first: when the first finding of the most harmful violated property was complete", "violated runs: of those that could tell, with the interval after Clopper and Pearson; none of n runs is a bound, not safety", layerNote}
	notes = append(append(notes, c.keptNote()...), c.untilNote()...)
	notes = append(notes, c.besideNotes()...)
	if slices.ContainsFunc(c.Cells, func(r Result) bool { return r.UntilKnown > 0 }) {
		notes = append(notes, "cells ended once their rates were known; the intervals hold whichever look that was at")
	}
	for _, cell := range c.Cells {
		if cell.StoppedEarly {
			return append(notes, "* runs were repeated until the expected violations had come; such a share leans upwards")
		}
	}
	return notes
}
