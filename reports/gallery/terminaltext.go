package gallery

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/olekukonko/tablewriter/tw"

	"lockcheck/checker/history"
	"lockcheck/reports/compare/config"
	"lockcheck/reports/terminal"
	"lockcheck/reports/words"
)

// Listed is one scenario of the listing. The names of its fields stay.
type Listed struct {
	Name      string           `json:"name"`
	Title     string           `json:"title"`
	Reference string           `json:"reference"`
	Teaches   string           `json:"teaches"`
	Backend   string           `json:"backend"`
	Expects   string           `json:"expects"`
	FixedIn   string           `json:"fixed_in,omitempty"`
	Contrast  string           `json:"contrast"` // why the other half does not fail
	Measured  *config.Measured `json:"measured"` // null if not measured
}

// NewListed is a scenario as it is listed.
func NewListed(s config.Scenario) Listed {
	return Listed{Name: s.Name, Title: s.Title, Reference: s.Reference, Teaches: s.Teaches, Backend: s.Failure.Backend(),
		Expects: Expects(s.Failure), FixedIn: s.FixedIn, Contrast: s.Contrast.Because, Measured: s.Measured}
}

// List shows scenarios, a few lines each; with brief only their names.
func List(w io.Writer, all []Listed, brief bool) error {
	var text strings.Builder
	line := func(format string, args ...any) { text.WriteString(words.Plain(fmt.Sprintf(format, args...)) + "\n") }
	for i, s := range all {
		if brief {
			line("%s", s.Name)
			continue
		}
		if i > 0 {
			line("")
		}
		line("%s: %s", s.Name, s.Title)
		line("  expected    %s", s.Expects)
		line("  teaches     %s", s.Teaches)
		line("  contrast    %s", s.Contrast)
		line("  reference   %s", s.Reference)
		if s.FixedIn != "" {
			line("  fixed in    %s", s.FixedIn)
		}
		line("  reproduced  %s", measured(s.Measured))
	}
	_, err := io.WriteString(w, text.String())
	return err
}

func measured(m *config.Measured) string {
	if m == nil {
		return "not measured"
	}
	return fmt.Sprintf("in %d of %s, %s", m.Reproduced, history.Counted(int64(m.Seeds), "run", "runs"), m.Date)
}

// Table shows what came of scenarios, one line each, below it why those are not reproduced that are not, and where the page is.
func Table(w io.Writer, r Record, dir string) error {
	table := terminal.NewTable(w, []tw.Align{tw.AlignLeft, tw.AlignLeft, tw.AlignLeft, tw.AlignRight}, nil)
	table.Header([]string{"scenario", "failure", "contrast", "took"})
	for _, name := range names(r) {
		cells := map[config.HalfName]string{config.Failure: "", config.Contrast: ""}
		var took time.Duration
		for _, item := range r.Items {
			if item.Name != name {
				continue
			}
			cells[item.Half] = item.words()
			for _, run := range item.runs() {
				took += run.Duration()
			}
		}
		if err := table.Append([]string{name, cells[config.Failure], cells[config.Contrast], history.Duration(took.Nanoseconds())}); err != nil {
			return err
		}
	}
	if err := table.Render(); err != nil {
		return err
	}
	var text strings.Builder
	for _, item := range r.Items {
		if item.Reason != "" {
			fmt.Fprintf(&text, "%s, %s: %s: %s\n", item.Name, item.Half, item.Outcome, words.Plain(strings.ReplaceAll(item.Reason, "\n", "; ")))
		}
	}
	fmt.Fprintf(&text, "report    %s\n%s\n", words.Plain(filepath.Join(dir, HTMLFile)), Sentence(r))
	_, err := io.WriteString(w, text.String())
	return err
}

func names(r Record) (all []string) {
	seen := map[string]bool{}
	for _, item := range r.Items {
		if !seen[item.Name] {
			seen[item.Name] = true
			all = append(all, item.Name)
		}
	}
	return all
}

// Sentence is the whole in a line.
func Sentence(r Record) string {
	count := map[Outcome]int{}
	for _, item := range r.Items {
		count[item.Outcome]++
	}
	parts := []string{fmt.Sprintf("%d of %s reproduced", count[Reproduced], history.Counted(int64(len(r.Items)), "run", "runs"))}
	for _, o := range []Outcome{NotReproduced, Failed, Unavailable, Inconclusive, NotRun} {
		if count[o] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", count[o], o))
		}
	}
	if r.Repeat > 1 {
		most := ""
		if r.UntilKnown > 0 {
			most = "at most "
		}
		parts[0] = fmt.Sprintf("%d of %d reproduced in %s%d runs each", count[Reproduced], len(r.Items), most, r.Repeat)
	}
	if r.Interrupted {
		parts = append(parts, "interrupted")
	}
	return strings.Join(parts, ", ")
}

// Line is what came of one item, and what its run found.
func Line(item Item) string {
	line := fmt.Sprintf("%s, %s: %s", item.Name, item.Half, item.words())
	if item.Reason != "" {
		line += ": " + item.Reason
	}
	return words.Plain(strings.ReplaceAll(line, "\n", "; "))
}

// One is what came of a single item: the verdict on it, what its run found, and where that is.
func One(w io.Writer, item Item, dir string) error {
	var text strings.Builder
	text.WriteString(Line(item) + "\n")
	fmt.Fprintf(&text, "  expected  %s\n", item.Expects)
	if item.Run != nil {
		for _, line := range item.Run.Story {
			text.WriteString("  " + words.Plain(line) + "\n")
		}
		if item.Run.Report != "" {
			fmt.Fprintf(&text, "  report    %s\n", words.Plain(filepath.Join(dir, filepath.FromSlash(item.Run.Report))))
		}
	}
	_, err := io.WriteString(w, text.String())
	return err
}
