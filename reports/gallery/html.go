package gallery

import (
	"embed"
	"fmt"
	"html/template"
	"io"
	"strings"
	"sync"

	"lockcheck/checker/history"
	"lockcheck/reports/compare"
	"lockcheck/reports/compare/config"
	"lockcheck/reports/words"
)

// The page is one file, like that of a comparison: nothing is fetched, nothing runs, and what a run has written is text.
//
//go:embed page
var pageFiles embed.FS

// pageTemplate is parsed when a page is made: clients and agents, of which a run starts many, make none.
var pageTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("gallery").Funcs(template.FuncMap{
		"word": func(w string) string { return words.ShellWords([]string{w}) }, "measured": measured, "took": took,
	}).ParseFS(pageFiles, "page/*.tmpl"))
})

// took is how long all runs of an item took.
func took(i Item) string {
	var ns int64
	for _, run := range i.runs() {
		ns += run.DurationNS
	}
	return history.Duration(ns)
}

type page struct {
	Record
	Style                         template.CSS
	Sentence, Shape, Class, Begun string
	Scenarios                     []pageScenario
}

// pageScenario is a scenario with the halves that were asked for, the failure first.
type pageScenario struct {
	ID int
	Item
	Halves            []pageItem
	Failure, Contrast *pageItem // nil if it was not asked for
}

type pageItem struct {
	Item
	Shape, Class string
	Link         template.URL // to the report of its run; "" if there is none
}

// face is the shape and the class of an outcome. Only a half that came as its file says is green.
func face(o Outcome) (shape, class string) {
	switch o {
	case Reproduced:
		return "✓", "pass"
	case NotReproduced, Failed:
		return "✗", "violation"
	}
	return "?", "inconclusive"
}

// face of a whole is that of its worst item.
func (r Record) face() (shape, class string) {
	switch r.Code() {
	case 0:
		return face(Reproduced)
	case 2, exitUnavailable, exitInterrupted:
		return face(Inconclusive)
	}
	return face(NotReproduced)
}

// HTML writes the page of a gallery. Links to the reports of its runs are relative: the directory can be moved, and opened from disk.
func HTML(w io.Writer, r Record) error {
	style, err := compare.Style()
	if err != nil {
		return err
	}
	p := page{Record: r, Style: style, Sentence: Sentence(r), Begun: r.StartedAt.UTC().Format("2006-01-02 15:04:05 UTC")}
	p.Shape, p.Class = r.face()
	for i, name := range names(r) {
		s := pageScenario{ID: i + 1}
		for _, item := range r.Items {
			if item.Name == name {
				s.Halves = append(s.Halves, newPageItem(item))
			}
		}
		s.Item = s.Halves[0].Item
		for n := range s.Halves {
			if half := &s.Halves[n]; half.Half == config.Contrast {
				s.Contrast = half
			} else {
				s.Failure = half
			}
		}
		p.Scenarios = append(p.Scenarios, s)
	}
	var out strings.Builder
	if err := pageTemplate().ExecuteTemplate(&out, "gallery.html.tmpl", p); err != nil {
		return fmt.Errorf("the gallery's page: %w", err)
	}
	return words.WritePlain(w, out.String())
}

func newPageItem(item Item) pageItem {
	p := pageItem{Item: item}
	p.Shape, p.Class = face(item.Outcome)
	if item.Run != nil {
		p.Link = compare.Link(item.Run.Report)
	}
	return p
}
