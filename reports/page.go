package reports

import (
	"embed"
	"fmt"
	"html/template"
	"io"
	"strings"

	"lockcheck/checker"
	"lockcheck/checker/history"
)

// The page is one file that needs nothing else: style and scripts are inlined, and a content policy forbids the browser
// to fetch anything, whatever a history may contain.
//
//go:embed page
var pageFiles embed.FS

var pageTemplate = template.Must(template.New("report").Funcs(template.FuncMap{
	"clock": clock, "span": span, "grouped": grouped, "percent": percent, "clip": clip, "int": func(n int64) int { return int(n) },
	"next": func(i int) int { return i + 1 },
}).ParseFS(pageFiles, "page/*.tmpl"))

// page is what the template fills in, section by section.
type page struct {
	Style   template.CSS
	Scripts []template.JS

	Title string
	// Directory is the name of the run's directory, which is made in local time and is not the run's id.
	Directory string
	Sentence  string
	Face      face
	Plan      history.Plan
	Complete  bool
	Expected  expected
	Facts     []fact   // of the plan
	Again     []string // its words, so that a line breaks between them only

	Cards   []card
	Exposed exposed

	Told    told
	Groups  []group
	Refused refused
	Windows []windowLink

	Timeline *timeline
	Still    *sheet
	Faults   []faultRow

	Figures []fact
	Charts  []chart
	Latency []latencyRow

	Around environment
}

type windowLink struct{ Name, Key, File string }

// WriteReport replaces report.html and Porcupine's pictures beside it.
func (d *Dir) WriteReport(j Judgement) error {
	windows, err := d.writeWindows(j)
	if err != nil {
		return err
	}
	if err := writeAtomically(d.ReportPath(), func(w io.Writer) error { return renderPage(w, j, d.name(), windows) }); err != nil {
		return fmt.Errorf("cannot write the report: %w", err)
	}
	return nil
}

func renderPage(w io.Writer, j Judgement, directory string, windows []windowLink) error {
	style, err := pageFiles.ReadFile("page/style.css")
	if err != nil {
		return err
	}
	p := newPage(j, windows)
	p.Directory = directory
	p.Style = template.CSS(style)
	for _, name := range pageScripts {
		script, err := pageFiles.ReadFile(name)
		if err != nil {
			return err
		}
		p.Scripts = append(p.Scripts, template.JS(script))
	}
	return pageTemplate.ExecuteTemplate(w, "report.html.tmpl", p)
}

func newPage(j Judgement, windows []windowLink) page {
	ix := newIndex(j)
	p := page{
		Title:    fmt.Sprintf("%s: %s under %s", j.Result.Verdict, j.Plan.Backend, j.Plan.Nemesis),
		Sentence: Sentence(j.Plan, j.Result),
		Face:     faceOf(j.Result.Verdict),
		Plan:     j.Plan,
		Complete: j.Model.Complete,
		Expected: heldAgainst(j),
		Facts:    planFacts(j.Plan),
		Again:    strings.Split(Again(j.Plan), " "),
		Cards:    cards(j.Result),
		Exposed:  newExposed(j),
		Told:     newTold(j.Result),
		Groups:   findingGroups(j, ix),
		Refused:  newRefused(j.Model),
		Windows:  windows,
		Timeline: newTimeline(j, ix),
		Faults:   faultRows(j.Model),
		Figures:  figures(j.Result.Stats),
		Charts:   charts(j),
		Latency:  latencies(j.Result.Stats),
		Around:   newEnvironment(j),
	}
	p.Still = p.Timeline.still()
	return p
}

// firstFinding is the id of a property's first finding, "" if it has none.
func firstFinding(p *checker.Property) string {
	if len(p.Findings) == 0 {
		return ""
	}
	return p.Findings[0].ID
}
