package compare

import (
	"fmt"
	"slices"
	"strings"

	"lockcheck/checker/history"
	"lockcheck/reports/words"
)

// leases sets the cells side by side that differ in their lease alone: a shorter one is taken over sooner after a crash, and is
// lost more easily.
type leases struct {
	Name  string
	Cells []Result
}

// TTLs are the leases of the matrix, in its order; none if it leaves them to the flags.
func (c *Comparison) TTLs() (ttls []string) {
	for _, cell := range c.Matrix {
		if cell.TTL != "" && !slices.Contains(ttls, cell.TTL) {
			ttls = append(ttls, cell.TTL)
		}
	}
	return ttls
}

// leases are of a comparison whose matrix has several; nil of all others.
func (c *Comparison) leases() (all []leases) {
	at := map[Cell]int{}
	for _, r := range c.Cells {
		if r.TTL == "" {
			continue
		}
		without := r.Cell
		without.TTL = ""
		i, known := at[without]
		if !known {
			i = len(all)
			at[without], all = i, append(all, leases{Name: without.String()})
		}
		all[i].Cells = append(all[i].Cells, r)
	}
	return all
}

// leaseLine is one figure under all leases.
type leaseLine struct {
	Name   string
	Values []string
}

// leaseFigures are what a lease buys, and what it costs.
var leaseFigures = []struct {
	name string
	of   func(Result) string
}{
	{"take-over, median", func(r Result) string { return takeOverWords(r, r.TakeOverNS) }},
	{"take-over, longest", func(r Result) string { return takeOverWords(r, r.TakeOverMaxNS) }},
	{"holds lost", func(r Result) string { return history.Grouped(r.Losses) }},
	{"incidents", func(r Result) string { return history.Grouped(r.Incidents) }},
	{"available", func(r Result) string { return words.Percent(r.Availability) }},
	{"outcome", func(r Result) string { return r.face().Symbol + " " + r.standing() }},
}

// takeOverWords are such as "1.21 s (of 7)".
func takeOverWords(r Result, ns int64) string {
	if r.TakeOvers == 0 {
		return "none"
	}
	return fmt.Sprintf("%s (of %d)", history.Duration(ns), r.TakeOvers)
}

// Lines are the figures, each under all leases.
func (l leases) Lines() (lines []leaseLine) {
	for _, figure := range leaseFigures {
		line := leaseLine{Name: figure.name}
		for _, r := range l.Cells {
			value := "–"
			if r.Made > 0 || figure.name == "outcome" {
				value = figure.of(r)
			}
			line.Values = append(line.Values, value)
		}
		lines = append(lines, line)
	}
	return lines
}

// leasesNote explains the figures.
const leasesNote = "take-over: how long after a holder's death, or a fault that hit it, another was granted its lock; of several runs its median is the mean of theirs; " +
	"holds lost: how often a holder was told that its lock had passed to another; faults that are meant in TTLs are shorter with a shorter lease, so that a run has more of them"

// leaseTable writes the figures as lines of columns.
func leaseTable(w *strings.Builder, l leases) {
	heads := []string{}
	for _, r := range l.Cells {
		heads = append(heads, "ttl "+r.TTL)
	}
	fmt.Fprintf(w, "\n%s\n", words.Plain(l.Name))
	for _, line := range append([]leaseLine{{"", heads}}, l.Lines()...) {
		text := fmt.Sprintf("  %-20s", line.Name)
		for _, value := range line.Values {
			text += fmt.Sprintf("%-22s", words.Plain(value))
		}
		w.WriteString(strings.TrimRight(text, " ") + "\n")
	}
}

// leaseMarkdown writes the same as Markdown.
func leaseMarkdown(l leases) string {
	var out strings.Builder
	fmt.Fprintf(&out, "\n### %s\n\n| ttl |", inline(l.Name))
	for _, r := range l.Cells {
		fmt.Fprintf(&out, " %s |", inline(r.TTL))
	}
	out.WriteString("\n|" + strings.Repeat(" --- |", 1+len(l.Cells)) + "\n")
	for _, line := range l.Lines() {
		out.WriteString("| " + line.Name + " |")
		for _, value := range line.Values {
			fmt.Fprintf(&out, " %s |", inline(value))
		}
		out.WriteByte('\n')
	}
	return out.String()
}
