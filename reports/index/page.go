package index

import (
	"cmp"
	"embed"
	"fmt"
	"html/template"
	"io"
	"net/url"
	"strings"
	"sync"
	"time"

	"lockcheck/checker/history"
	"lockcheck/reports/words"
)

// The page is one file that needs nothing else: its style is inlined, it has no script, and a content policy forbids the browser
// to fetch or run anything.
//
//go:embed page
var pageFiles embed.FS

// pageTemplate is parsed when a page is made: clients and agents, of which a run starts many, make none.
var pageTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(template.ParseFS(pageFiles, "page/*.tmpl"))
})

type page struct {
	Mark    template.HTML
	Style   template.CSS
	Written string
	Counted string
	Notes   []string
	Rows    []row
}

type row struct {
	Started, Kind, What   string
	Shape, Class, Verdict string
	Sentence              string
	Seed                  int64
	Read, Known           bool // Known: what it is of
	Link                  template.URL
	Changes               []string
	Since                 string
	SinceLink             template.URL
}

func html(w io.Writer, entries []*entry, total int, now time.Time) error {
	style, err := pageFiles.ReadFile("page/style.css")
	if err != nil {
		return err
	}
	p := page{Mark: mark, Style: template.CSS(style), Written: now.Format("2006-01-02 15:04:05"), Counted: history.Counted(int64(total), "run, comparison or hunt", "runs, comparisons and hunts")}
	if total > len(entries) {
		p.Notes = append(p.Notes, fmt.Sprintf("Only the newest %d are shown, and compared with each other.", len(entries)))
	}
	pages := map[string]template.URL{}
	unread := 0
	for _, e := range entries {
		pages[e.name] = link(e.name, e.found.page)
		if !e.read {
			unread++
		}
	}
	if unread > 0 {
		p.Notes = append(p.Notes, fmt.Sprintf("The files of the last %d were not read: a run does not wait longer for this page.", unread))
	}
	for _, e := range entries {
		p.Rows = append(p.Rows, newRow(e, pages))
	}
	var out strings.Builder
	if err := pageTemplate().ExecuteTemplate(&out, "index.html.tmpl", p); err != nil {
		return err
	}
	_, err = io.WriteString(w, words.Markup(out.String()))
	return err
}

func newRow(e *entry, pages map[string]template.URL) row {
	r := row{
		Started: e.started.Format("2006-01-02 15:04:05"), Kind: string(e.kind), What: short(cmp.Or(e.found.what, e.name)), Read: e.read, Link: pages[e.name],
		Verdict: "no verdict", Shape: "–", Class: "na", Sentence: short(e.found.sentence), Seed: e.found.seed, Known: e.found.what != "",
		Since: short(e.since), SinceLink: pages[e.since],
	}
	for _, change := range e.changes {
		r.Changes = append(r.Changes, short(change))
	}
	if v := e.found.verdict; v != "" {
		face := words.FaceOf(v)
		r.Verdict, r.Shape, r.Class = short(string(v)), face.Symbol, face.Class
	}
	return r
}

// short is a text of a file or of a name as the page has it: whatever it holds, the page has a bound.
func short(text string) string { return words.Clip(words.Plain(text), words.MaxSentence) }

// link leads to the page in a directory beside the index, or to the directory.
func link(dir, page string) template.URL {
	return template.URL("./" + url.PathEscape(dir) + "/" + page)
}
