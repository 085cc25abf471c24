package compare

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/clipperhouse/displaywidth"
	"github.com/olekukonko/tablewriter/tw"

	"lockcheck/reports/terminal"
	"lockcheck/reports/words"
)

// Table draws the cells for a terminal of a width in columns, 0 for any.
func Table(w io.Writer, results []Result, color bool, width int) error {
	shown := columns
	for leave := 1; leave <= len(columns); leave++ {
		var out strings.Builder
		if err := table(&out, rows(results), shown, false); err != nil {
			return err
		}
		if width <= 0 || widest(out.String()) <= width {
			break
		}
		shown = slices.DeleteFunc(slices.Clone(shown), func(c column) bool { return c.leave == leave })
	}
	return table(w, rows(results), shown, color)
}

func widest(text string) (columns int) {
	for line := range strings.Lines(text) {
		columns = max(columns, displaywidth.String(strings.TrimRight(line, "\n")))
	}
	return columns
}

func table(w io.Writer, all []row, shown []column, color bool) error {
	align, widths := make([]tw.Align, len(shown)), map[int]int{}
	for i, c := range shown {
		align[i] = tw.AlignLeft
		if c.figure {
			align[i] = tw.AlignRight
		}
		if c.maxWidth > 0 {
			widths[i] = c.maxWidth
		}
	}
	table := terminal.NewTable(w, align, widths)
	table.Header(heads(shown))
	for _, r := range all {
		cells := r.cells(shown)
		if color && r.Outcome != NotRun {
			i := slices.IndexFunc(shown, func(c column) bool { return c.head == outcome })
			cells[i] = r.face().Paint(cells[i])
		}
		if err := table.Append(cells); err != nil {
			return err
		}
	}
	return table.Render()
}

// Line is a cell in one line, for where a table cannot be drawn anew.
func Line(r Result) string {
	w := newRow(r)
	parts := []string{w.Shape + " " + r.Cell.String(), w.Standing}
	if r.Made > 0 {
		parts = append(parts, "verdict "+w.Verdict, w.Marks, w.Found, "violated "+w.Runs, w.Exposure)
	}
	return words.Plain(strings.Join(parts, " | "))
}

// Shown says how the end of a comparison is shown on a terminal.
type Shown struct {
	Dir          string // of the comparison
	Page         string // its page; "" if it could not be written
	Color, Quiet bool
}

// Summary shows the end of a comparison: the table, what is not as it should be, and last, where the eye rests, one
// sentence.
func Summary(w io.Writer, c *Comparison, show Shown) error {
	var out strings.Builder
	if !show.Quiet {
		columns, _, _ := terminal.Size(w)
		if err := Table(&out, c.Cells, show.Color, columns); err != nil {
			return fmt.Errorf("cannot draw the table: %w", err)
		}
		for _, b := range c.beside() {
			besideTable(&out, b)
		}
		out.WriteByte('\n')
		for _, note := range c.notes() {
			fmt.Fprintf(&out, "  %s\n", note)
		}
		writeWhy(&out, c, show.Dir)
		if show.Page != "" {
			fmt.Fprintf(&out, "\nreport    %s\n", words.Plain(show.Page))
		}
		out.WriteByte('\n')
	}
	sentence := words.FaceOf(c.Worst()).Symbol + " " + c.Sentence()
	if show.Color {
		sentence = words.FaceOf(c.Worst()).Paint(sentence)
	}
	fmt.Fprintln(&out, sentence)
	_, err := io.WriteString(w, out.String())
	return err
}

func writeWhy(w io.Writer, c *Comparison, dir string) {
	for _, cell := range c.Cells {
		if cell.Outcome == Met {
			continue
		}
		fmt.Fprintf(w, "\n%s %s\n", newRow(cell).Shape, words.Plain(cell.Cell.String()))
		for _, line := range newAccount(cell).lines() {
			fmt.Fprintf(w, "  %s\n", words.PlainLines(line, "    "))
		}
		if e := cell.Expectation; e != nil {
			fmt.Fprintf(w, "  expected because: %s\n", words.Plain(e.Reason))
		}
		if run, ok := cell.representative(); ok && run.Error == "" {
			fmt.Fprintf(w, "  run: %s\n  reproduce: %s\n", words.Plain(filepath.Join(dir, filepath.FromSlash(run.Dir))), words.Plain(words.ShellWords(run.Command)))
		}
	}
	if next := c.Next(); next != "" {
		fmt.Fprintf(w, "\n%s\n", words.Plain(next))
	}
}

// at is the place of an expectation: " (lockcheck.yaml:12)".
func at(p Problem) string {
	if p.File == "" {
		return ""
	}
	return fmt.Sprintf(" (%s:%d)", p.File, p.Line)
}
