package compare

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"lockcheck/checker/history"
	"lockcheck/reports/words"
)

// beside sets the cells side by side that differ in one axis alone.
type beside struct {
	Axis
	Name  string
	Cells []Result
	among int // rates that are read for changes, of all cells of the comparison
}

// beside are of a comparison whose matrix has an axis, in the order of its cells; nil of all others.
func (c *Comparison) beside() (all []beside) {
	for _, a := range Axes {
		all = append(all, c.besideOn(a)...)
	}
	among := 0
	for _, b := range all {
		if b.order != nil {
			among += b.rated()
		}
	}
	for i := range all {
		all[i].among = among
	}
	return all
}

func (c *Comparison) besideOn(a Axis) (all []beside) {
	at := map[Cell]int{}
	for _, r := range c.Cells {
		if *a.value(&r.Cell) == "" {
			continue
		}
		without := r.Cell
		*a.value(&without) = ""
		i, known := at[without]
		if !known {
			i = len(all)
			at[without], all = i, append(all, beside{Axis: a, Name: without.String()})
		}
		all[i].Cells = append(all[i].Cells, r)
	}
	return all
}

// Heads are the values of the axis that the cells have.
func (b beside) Heads() (heads []string) {
	for _, r := range b.Cells {
		heads = append(heads, *b.value(&r.Cell))
	}
	return heads
}

// besideLine is one figure of all cells.
type besideLine struct {
	Name   string
	Values []string
}

// figure is one of the figures for which cells are set side by side.
type figure struct {
	name string
	of   func(Result) string
}

// always are figures whatever the cells show.
func always(figures []figure) func([]Result) []figure {
	return func([]Result) []figure { return figures }
}

// outcomeFigure ends all: it is the only one of a cell that was not run.
var outcomeFigure = figure{"outcome", func(r Result) string { return r.face().Symbol + " " + r.standing() }}

// runsFigure begins all: the others are sums over these runs.
var runsFigure = figure{"runs", func(r Result) string {
	runs := history.Grouped(int64(r.Made))
	if r.Conclusive < r.Made {
		runs += " (" + history.Grouped(int64(r.Conclusive)) + " conclusive)"
	}
	return runs
}}

// Lines are the figures, each of all cells.
func (b beside) Lines() (lines []besideLine) {
	for _, figure := range slices.Concat([]figure{runsFigure}, b.figures(b.Cells), []figure{outcomeFigure}) {
		line := besideLine{Name: figure.name}
		for _, r := range b.Cells {
			value := "–"
			if r.Made > 0 || figure.name == outcomeFigure.name {
				value = figure.of(r)
			}
			line.Values = append(line.Values, value)
		}
		lines = append(lines, line)
	}
	return lines
}

// besideNotes explain the figures of the axes that the matrix has.
func (c *Comparison) besideNotes() (notes []string) {
	for _, a := range Axes {
		if len(c.besideOn(a)) > 0 {
			notes = append(notes, a.note)
		}
	}
	return notes
}

// Columns of besideTable, in characters: what stands in them may be a program of the user's, with its arguments.
const minName, minColumn, columnGap = 20, 22, 2

// besideTable writes the figures as lines of columns.
func besideTable(w *strings.Builder, b beside) {
	heads := b.Heads()
	for i, head := range heads {
		heads[i] = b.Flag + " " + head
	}
	fmt.Fprintf(w, "\n%s\n", words.Plain(b.Name))
	lines := append([]besideLine{{"", heads}}, b.Lines()...)
	names, widths := 0, make([]int, len(heads))
	for _, line := range lines {
		names = max(names, minName, utf8.RuneCountInString(line.Name)+columnGap)
		for i, value := range line.Values {
			widths[i] = max(widths[i], minColumn, utf8.RuneCountInString(words.Plain(value))+columnGap)
		}
	}
	for _, line := range lines {
		text := fmt.Sprintf("  %-*s", names, line.Name)
		for i, value := range line.Values {
			text += fmt.Sprintf("%-*s", widths[i], words.Plain(value))
		}
		w.WriteString(strings.TrimRight(text, " ") + "\n")
	}
	for _, change := range b.Changes() {
		fmt.Fprintf(w, "  %s\n", words.Plain(change.String()))
	}
}

// besideMarkdown writes the same as Markdown.
func besideMarkdown(b beside) string {
	var out strings.Builder
	fmt.Fprintf(&out, "\n### %s\n\n| %s |", inline(b.Name), b.Flag)
	for _, head := range b.Heads() {
		fmt.Fprintf(&out, " %s |", inline(head))
	}
	out.WriteString("\n|" + strings.Repeat(" --- |", 1+len(b.Cells)) + "\n")
	for _, line := range b.Lines() {
		out.WriteString("| " + line.Name + " |")
		for _, value := range line.Values {
			fmt.Fprintf(&out, " %s |", inline(value))
		}
		out.WriteByte('\n')
	}
	for _, change := range b.Changes() {
		fmt.Fprintf(&out, "\n- %s", inline(change.String()))
	}
	return out.String() + "\n"
}
