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

// dispensable are the columns that a narrow terminal goes without, the first first; the page has them all.
var dispensable = []int{11, 10, 9, 7, 6, 8}

// Table draws the cells for a terminal of a width in columns, 0 for any.
func Table(w io.Writer, results []Result, color bool, width int) error {
	shown := make([]int, len(columns))
	for i := range shown {
		shown[i] = i
	}
	for _, leave := range dispensable {
		var out strings.Builder
		if err := table(&out, rows(results), shown, false); err != nil {
			return err
		}
		if width <= 0 || widest(out.String()) <= width {
			break
		}
		shown = slices.DeleteFunc(shown, func(i int) bool { return i == leave })
	}
	return table(w, rows(results), shown, color)
}

func widest(text string) (columns int) {
	for line := range strings.Lines(text) {
		columns = max(columns, displaywidth.String(strings.TrimRight(line, "\n")))
	}
	return columns
}

// maxWidths are of the columns that may be long: they are broken into lines.
var maxWidths = map[int]int{1: 30, 6: 26, 11: 30}

// rightAligned are the columns of figures.
var rightAligned = []int{7, 9, 10}

func table(w io.Writer, all []row, shown []int, color bool) error {
	head, align, widths := make([]string, len(shown)), make([]tw.Align, len(shown)), map[int]int{}
	for at, i := range shown {
		head[at], align[at] = columns[i], tw.AlignLeft
		if slices.Contains(rightAligned, i) {
			align[at] = tw.AlignRight
		}
		if width, bounded := maxWidths[i]; bounded {
			widths[at] = width
		}
	}
	table := terminal.NewTable(w, align, widths)
	table.Header(head)
	for _, r := range all {
		cells := r.cells()
		line := make([]string, len(shown))
		for at, i := range shown {
			line[at] = cells[i]
			if i == outcomeColumn && color && r.Outcome != NotRun {
				line[at] = r.face().Paint(cells[i])
			}
		}
		if err := table.Append(line); err != nil {
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
			fmt.Fprintf(w, "  %s\n", words.Plain(line))
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
