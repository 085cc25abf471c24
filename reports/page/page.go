// Package page is report.html: one page for people, section by section, and Porcupine's pictures beside it.
package page

import (
	"embed"
	"fmt"
	"html/template"
	"io"
	"strings"
	"sync"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
	"lockcheck/reports/rundir"
	"lockcheck/reports/svg"
	"lockcheck/reports/words"
)

// The page is one file that needs nothing else: style and scripts are inlined, and a content policy forbids the browser to
// fetch anything, even what a history names.
//
//go:embed *.tmpl style.css page.js timeline
var pageFiles embed.FS

// pageTemplate is parsed when a page is made: clients and agents, of which a run starts many, make none.
var pageTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(template.Must(template.New("report").Funcs(template.FuncMap{
		"clock": history.Moment, "span": history.Duration, "grouped": history.Grouped[int64], "percent": words.Percent, "clip": words.Clip,
		"int":  func(n int64) int { return int(n) },
		"next": func(i int) int { return i + 1 },
	}).Parse(svg.Template)).ParseFS(pageFiles, "*.tmpl"))
})

// pageScripts are the scripts of the page in the order in which they are run. The parts of the timeline share one object,
// which its last part puts to work.
var pageScripts = []string{"page.js",
	"timeline/data.js", "timeline/view.js", "timeline/words.js", "timeline/lanes.js", "timeline/theme.js",
	"timeline/paint.js", "timeline/paintholds.js", "timeline/paintwrites.js", "timeline/minimap.js",
	"timeline/items.js", "timeline/filter.js", "timeline/table.js", "timeline/start.js"}

// page is what the template fills in, section by section.
type page struct {
	Style   template.CSS
	Scripts []template.JS

	Title string
	// Directory is the name of the run's directory, which is made in local time and is not the run's id.
	Directory    string
	Sentence     string
	Face         words.Face
	Plan         history.Plan
	Complete     bool
	Deaths       words.Deaths // of clients
	EndedServers []string
	Expected     expected
	Facts        []fact   // of the plan
	Reproduce    []string // its words, so that a line breaks between them only

	Cards   []card
	Exposed exposed

	Overview overview
	Groups   []group
	Refused  refused
	Windows  []windowLink

	Timeline *svg.Timeline
	Still    *svg.Sheet
	Writes   writesLegend
	Faults   []faultRow

	Figures []fact
	Charts  []svg.Chart
	Latency []latencyRow

	Around environment
}

type windowLink struct{ Name, Key, File string }

// Write replaces the report of a run directory, report.html, and Porcupine's pictures beside it.
func Write(d *rundir.Dir, j rundir.Judgement) error {
	windows, err := writeWindows(d, j)
	if err != nil {
		return err
	}
	if err := rundir.WriteAtomically(d.ReportPath(), func(w io.Writer) error { return render(w, j, d.Name(), windows) }); err != nil {
		return fmt.Errorf("cannot write the report: %w", err)
	}
	return nil
}

func render(w io.Writer, j rundir.Judgement, directory string, windows []windowLink) error {
	style, err := pageFiles.ReadFile("style.css")
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
	return pageTemplate().ExecuteTemplate(w, "report.html.tmpl", p)
}

func newPage(j rundir.Judgement, windows []windowLink) page {
	ix := svg.NewIndex(j)
	p := page{
		Title:        fmt.Sprintf("%s: %s%s", j.Result.Verdict, j.Plan.Backend, words.Under(j.Plan)),
		Sentence:     words.Sentence(j.Plan, j.Result),
		Face:         words.FaceOf(j.Result.Verdict),
		Plan:         j.Plan,
		Complete:     j.Model.Complete,
		Deaths:       words.DeathsOf(j, ""),
		EndedServers: words.EndedServers(j),
		Expected:     heldAgainst(j),
		Facts:        planFacts(j.Plan),
		Reproduce:    strings.Split(words.ReproduceCommand(j.Plan), " "),
		Cards:        cards(j.Result),
		Exposed:      newExposed(j),
		Overview:     newOverview(j.Plan, j.Result),
		Groups:       findingGroups(j, ix),
		Refused:      newRefused(j.Plan, j.Model),
		Windows:      windows,
		Timeline:     svg.NewTimeline(j, ix),
		Faults:       faultRows(j.Model),
		Figures:      figures(j),
		Charts:       svg.Charts(j),
		Latency:      latencies(j.Result.Stats),
		Around:       newEnvironment(j),
	}
	p.Still = p.Timeline.Still()
	p.Writes = newWritesLegend(j.Plan, p.Timeline.Marked())
	return p
}

// firstFinding is the id of a property's first finding, "" if it has none.
func firstFinding(p *model.Property) string {
	if len(p.Findings) == 0 {
		return ""
	}
	return p.Findings[0].ID
}
