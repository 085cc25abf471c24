package compare

import (
	"fmt"
	"strings"

	"lockcheck/checker/history"
	"lockcheck/reports/words"
)

// MaxSummary is less than what GitHub takes of one step's summary, 1 MiB.
const MaxSummary = 1<<20 - 1<<10

// room is what is kept for the line that says what was left out.
const room = 200

// Markdown is the comparison as Markdown of at most budget bytes: the table, then what is not as it should be, then the
// stories, as far as they fit.
func Markdown(c *Comparison, budget int) string {
	m := &markdown{budget: budget - room}
	m.add("## lockcheck: " + inline(c.Sentence()) + "\n\n")
	all := rows(c.Cells)
	m.add("| " + strings.Join(heads(columns), " | ") + " |\n|" + strings.Repeat(" --- |", len(columns)) + "\n")
	for _, r := range all {
		cells := r.cells(columns)
		for i := range cells {
			cells[i] = inline(cells[i])
		}
		m.add("| " + strings.Join(cells, " | ") + " |\n")
	}
	m.add("\n")
	for _, note := range c.notes() {
		m.add("<sub>" + inline(note) + "</sub>\n")
	}
	for _, b := range c.beside() {
		m.add(besideMarkdown(b))
	}
	for _, r := range c.Cells {
		if r.Outcome != Met {
			m.add(problems(r))
		}
	}
	for _, r := range c.Cells {
		if run, ok := r.representative(); ok && len(run.Story) > 0 {
			m.add(details(r, run))
		}
	}
	if m.left > 0 {
		m.text.WriteString("\n" + history.Counted(int64(m.left), "part was", "parts were") + " left out to keep this short; compare.html has everything.\n")
	}
	return m.text.String()
}

type markdown struct {
	text   strings.Builder
	budget int
	left   int // parts that did not fit
}

// add adds a part as a whole or not at all. Once one was left out none that comes later is added: it would look as if
// nothing were missing between.
func (m *markdown) add(part string) {
	if m.left > 0 || m.text.Len()+len(part) > m.budget {
		m.left++
		return
	}
	m.text.WriteString(part)
}

func problems(r Result) string {
	var out strings.Builder
	fmt.Fprintf(&out, "\n### %s %s\n\n", newRow(r).Shape, inline(r.Cell.String()))
	for _, line := range newAccount(r).lines() {
		fmt.Fprintf(&out, "- %s\n", inline(line))
	}
	if r.Expectation != nil {
		fmt.Fprintf(&out, "- expected because: %s\n", inline(r.Expectation.Reason))
	}
	return out.String()
}

func details(r Result, run Run) string {
	var out strings.Builder
	fmt.Fprintf(&out, "\n<details><summary>%s: %s</summary>\n\n", inline(r.Cell.String()), inline(run.Sentence))
	for i, line := range run.Story {
		if i > 0 {
			out.WriteString("- ")
		}
		out.WriteString(inline(line) + "\n")
		if i == 0 {
			out.WriteByte('\n')
		}
	}
	if len(run.Command) > 0 {
		fmt.Fprintf(&out, "\nReproduce: %s\n", inline(words.ShellWords(run.Command)))
	}
	out.WriteString("\n</details>\n")
	return out.String()
}

// markup is what Markdown, or HTML inside it, could take for more than text. A number sign and an at sign would become
// links to issues and people.
const markup = "\\`*_[]<>&|~#@"

// inline makes any text one line of Markdown that shows as it is. Markup becomes character references: a backslash would
// do nothing inside HTML.
func inline(text string) string {
	var out strings.Builder
	for _, r := range words.Plain(text) {
		if strings.ContainsRune(markup, r) {
			fmt.Fprintf(&out, "&#%d;", r)
		} else {
			out.WriteRune(r)
		}
	}
	// A bare address would become a link.
	return strings.ReplaceAll(out.String(), "://", "&#58;//")
}
