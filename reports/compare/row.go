package compare

import (
	"fmt"
	"strings"

	"lockcheck/checker"
	"lockcheck/checker/history"
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

// columns are the headings of rows; the outcome's is the column that colour repeats.
var columns = []string{"backend", "nemesis", "workload", "outcome", "verdict", "layers", "found", "first", "violated runs", "operations", "available", "exposure"}

// outcomeColumn is where the outcome stands.
const outcomeColumn = 3

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
	w.Runs = shareWords(r.Violated, r.Conclusive)
	if r.StoppedEarly {
		w.Runs += "*"
	}
	if unknown := r.Made - r.Conclusive; unknown > 0 && r.Conclusive > 0 {
		w.Runs += fmt.Sprintf(", %d inconclusive", unknown)
	}
	w.Ops = history.Grouped(r.Ops)
	w.Availability = words.Percent(r.Availability)
	w.Exposure = exposureWords(r.Exposure)
	w.Queueing = words.Overtakes(r.AttemptsPerGrant, r.Overtakes)
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
func exposureWords(exposure []checker.Exposure) string {
	parts := make([]string, 0, len(exposure))
	for _, e := range exposure {
		parts = append(parts, strings.ReplaceAll(words.Plain(e.Name), "-", " ")+": "+history.Grouped(e.Count))
	}
	return strings.Join(parts, ", ")
}

func (w row) cells() []string {
	cells := []string{w.Cell.Backend, w.Cell.Nemesis, w.load(), w.Shape + " " + w.Standing, w.Verdict, w.Marks, w.Found, w.First,
		w.Runs, w.Ops, w.Availability, w.Exposure}
	for i, c := range cells {
		cells[i] = words.Plain(c)
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
	notes := []string{"first: when the first finding of the most harmful violated property was complete", "violated runs: of those that could tell, with the 95 % interval after Wilson; none of n runs is a bound, not safety", layerNote}
	notes = append(append(notes, c.keptNote()...), c.untilNote()...)
	notes = append(notes, c.besideNotes()...)
	for _, cell := range c.Cells {
		if cell.StoppedEarly {
			return append(notes, "* runs were repeated until the expected violations had come; such a share leans upwards")
		}
	}
	return notes
}
