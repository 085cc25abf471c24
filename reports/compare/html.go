package compare

import (
	"embed"
	"html/template"
	"io"
	"net/url"
	"slices"
	"strings"
	"sync"

	"lockcheck/checker/history"
	"lockcheck/reports/words"
)

// The page is one file that needs nothing else: its style is inlined, it has no script, and a content policy forbids the
// browser to fetch or run anything, even what a run has written.
//
//go:embed page
var pageFiles embed.FS

// pageTemplate is parsed when a page is made: clients and agents, of which a run starts many, make none.
var pageTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("compare").Funcs(template.FuncMap{
		"word": func(w string) string { return words.ShellWords([]string{w}) }, "clock": history.Moment, "grouped": history.Grouped[int64], "percent": words.Percent, "mark": markOf,
		"found": words.Found, "queueing": words.QueueingOfRuns, "columns": func() []column { return columns },
	}).ParseFS(pageFiles, "page/*.tmpl"))
})

type page struct {
	*Comparison
	Style    template.CSS
	Title    string
	Sentence string
	Face     string // shape
	Class    string
	Columns  []string // of the picture of the matrix
	Lines    []pageLine
	Rows     []pageRow
	Beside   []beside
	Notes    []string
	Started  string
}

// pageLine is one line of the picture: a backend under a workload, a cell for each nemesis.
type pageLine struct {
	Name  string
	Cells []*pageRow // nil where the matrix has none
}

type pageRow struct {
	row
	ID     int
	Link   template.URL // of the run that a click opens, "" for none
	Detail []pageRun
	Why    []pageWhy
}

type pageWhy struct{ Kind, Text string }

type pageRun struct {
	Run
	Link template.URL
}

// Style is the style of the page, for pages that look like it.
func Style() (template.CSS, error) {
	style, err := pageFiles.ReadFile("page/style.css")
	return template.CSS(style), err
}

// HTML writes the page of the matrix. Links to runs are relative: the directory can be moved, and opened from disk.
func HTML(w io.Writer, c *Comparison) error {
	style, err := Style()
	if err != nil {
		return err
	}
	p := page{
		Comparison: c, Style: style, Title: "lockcheck compare: " + c.Sentence(), Sentence: c.Sentence(),
		Face: words.FaceOf(c.Worst()).Symbol, Class: words.FaceOf(c.Worst()).Class, Notes: c.notes(), Beside: c.beside(), Started: c.StartedAt.UTC().Format("2006-01-02 15:04:05 UTC"),
	}
	p.Rows = make([]pageRow, len(c.Cells))
	for i, r := range c.Cells {
		p.Rows[i] = newPageRow(i+1, r)
	}
	p.picture()
	var out strings.Builder
	if err := pageTemplate().ExecuteTemplate(&out, "compare.html.tmpl", p); err != nil {
		return err
	}
	_, err = io.WriteString(w, words.Markup(out.String()))
	return err
}

func newPageRow(id int, r Result) pageRow {
	line := pageRow{row: newRow(r), ID: id}
	for _, run := range r.Runs {
		line.Detail = append(line.Detail, pageRun{run, Link(run.Report)})
	}
	if run, ok := r.representative(); ok {
		line.Link = Link(run.Report)
	}
	for i, why := range r.Why() {
		kind := ""
		if i < len(r.Problems) {
			kind = string(r.Problems[i].Kind) + at(r.Problems[i])
		}
		line.Why = append(line.Why, pageWhy{kind, why})
	}
	return line
}

// Link is a path as an address that leads nowhere but to a file: never to another scheme or host.
func Link(path string) template.URL {
	if path == "" {
		return ""
	}
	parts := strings.Split(path, "/")
	for i, part := range parts {
		parts[i] = url.PathEscape(part)
	}
	address := strings.Join(parts, "/")
	if !strings.HasPrefix(address, "../") {
		address = "./" + strings.TrimLeft(address, "/")
	}
	return template.URL(address)
}

func (p *page) picture() {
	var names []string
	for _, r := range p.Rows {
		if !slices.Contains(p.Columns, r.Nemesis) {
			p.Columns = append(p.Columns, r.Nemesis)
		}
		if name := r.Backend + ", " + r.load(); !slices.Contains(names, name) {
			names = append(names, name)
			p.Lines = append(p.Lines, pageLine{Name: name})
		}
	}
	for i := range p.Lines {
		p.Lines[i].Cells = make([]*pageRow, len(p.Columns))
	}
	for i := range p.Rows {
		r := &p.Rows[i]
		p.Lines[slices.Index(names, r.Backend+", "+r.load())].Cells[slices.Index(p.Columns, r.Nemesis)] = r
	}
}

// Dashed explains the border of the cells that are Bad; "" if there are none.
func (p page) Dashed() string {
	if !slices.ContainsFunc(p.Rows, pageRow.Bad) {
		return ""
	}
	if p.Expecting {
		return "not as expected, or not known to be: a run could not tell, could not be made, or was not made"
	}
	return "violated, or not known to have passed: a run could not tell, could not be made, or was not made"
}

// Bad reports whether a cell is to be marked beside its verdict.
func (r pageRow) Bad() bool { return r.Outcome != Met }

// Text is a row's cell of a column without a drawing of its own.
func (r pageRow) Text(c column) string { return c.cell(r.row) }
