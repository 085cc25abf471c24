package hunts

import (
	"cmp"
	"embed"
	"fmt"
	"html/template"
	"io"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
	"lockcheck/reports/compare"
	"lockcheck/reports/svg"
	"lockcheck/reports/words"
)

// The page is one file, like that of a comparison: nothing is fetched, nothing runs, and what a run has written is text.
//
//go:embed page
var pageFiles embed.FS

var pageTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(template.Must(template.New("hunt").Funcs(template.FuncMap{
		"word": func(w string) string { return words.ShellWords([]string{w}) }, "took": history.Duration,
		"spent": func(ns int64) string { return time.Duration(ns).Round(time.Second).String() }, "clip": words.Clip, "join": strings.Join,
	}).Parse(svg.Template)).ParseFS(pageFiles, "page/*.tmpl"))
})

type page struct {
	Record
	Style                         template.CSS
	Shape, Class, Begun, Progress string
	Growth                        *svg.Sheet
	Arms                          [2]arm // guided, by chance
	Maps                          []propertyMap
	Found                         []pageFind
	Barren                        []reason
}

// arm are the runs that the search chose, or those by chance.
type arm struct {
	Name, Class           string
	Runs, Covered, Firsts int
	Barren                int
	after                 []int
}

// propertyMap are the runs that came closest to a violation of a property, one for each sequence of kinds of faults.
type propertyMap struct {
	Property model.Name
	Elites   []elite
	More     int // that are left out
}

type elite struct {
	Kinds, Nemesis, Margin string
	Run                    int
	Chance                 bool
	by                     int64
}

// maxElites bounds the map of a property: those that stayed farther away say little.
const maxElites = 20

type pageFind struct {
	Find
	Link  template.URL
	Fails bool
}

// reason is why runs taught nothing, and how many.
type reason struct {
	Why  string
	Runs int
}

// maxReasons bounds the list of reasons.
const maxReasons = 12

// HTML writes the page of a hunt. Links to the reports of its runs are relative: the directory can be moved, and opened from disk.
func HTML(w io.Writer, r Record) error {
	style, err := compare.Style()
	if err != nil {
		return err
	}
	own, err := pageFiles.ReadFile("page/style.css")
	if err != nil {
		return err
	}
	face := words.FaceOf(r.Verdict())
	p := page{Record: r, Style: style + template.CSS(own), Shape: face.Symbol, Class: face.Class, Begun: r.StartedAt.UTC().Format("2006-01-02 15:04:05 UTC"),
		Arms: arms(r), Maps: mapsOf(r), Barren: reasons(r)}
	p.Growth = svg.NewGrowth("growth", fmt.Sprintf("States and orders that two runs had: %d after %s of the search, %d after %s by chance", p.Arms[0].Covered,
		history.Counted(int64(p.Arms[0].Runs), "run", "runs"), p.Arms[1].Covered, history.Counted(int64(p.Arms[1].Runs), "run", "runs")),
		"runs of each kind", svg.Growth{Class: "chance", After: p.Arms[1].after}, svg.Growth{Class: "guided", After: p.Arms[0].after})
	for _, f := range r.Finds {
		p.Found = append(p.Found, pageFind{f, reportLink(f), r.Fails(f)})
	}
	if closest, run, ok := r.Closest(); ok {
		p.Progress = fmt.Sprintf("The closest call: run %d stayed %s from a violation of %s", run.N, closest.Words(), closest.Property)
	}
	var out strings.Builder
	if err := pageTemplate().ExecuteTemplate(&out, "hunt.html.tmpl", p); err != nil {
		return fmt.Errorf("the hunt's page: %w", err)
	}
	return words.WritePlain(w, out.String())
}

// reportLink leads to the story of a find in the report of its run.
func reportLink(f Find) template.URL {
	link := compare.Link(f.Report)
	if link == "" || f.Finding == "" {
		return link
	}
	return link + template.URL("#v="+url.QueryEscape(f.Finding))
}

func arms(r Record) [2]arm {
	all := [2]arm{{Name: "chosen by the search", Class: "guided"}, {Name: "by chance", Class: "chance"}}
	of := func(chance bool) *arm {
		if chance {
			return &all[1]
		}
		return &all[0]
	}
	for _, run := range r.Runs {
		a := of(run.Chance)
		a.Runs++
		a.Covered = run.Covered
		a.after = append(a.after, run.Covered)
		if run.Barren != "" {
			a.Barren++
		}
	}
	for _, f := range r.Finds {
		of(f.Chance).Firsts++
	}
	return all
}

// mapsOf is the map of elites: of each property and each sequence of kinds of faults the run that came closest.
func mapsOf(r Record) (all []propertyMap) {
	best := map[model.Name]map[string]elite{}
	for _, run := range r.Runs {
		for _, m := range run.Margins {
			if run.Barren != "" {
				continue
			}
			if best[m.Property] == nil {
				best[m.Property] = map[string]elite{}
			}
			if e, known := best[m.Property][run.Kinds]; !known || m.By < e.by {
				best[m.Property][run.Kinds] = elite{run.Kinds, run.Nemesis, m.Words(), run.N, run.Chance, m.By}
			}
		}
	}
	for property, elites := range best {
		of := propertyMap{Property: property}
		for _, e := range elites {
			of.Elites = append(of.Elites, e)
		}
		slices.SortFunc(of.Elites, func(a, b elite) int {
			return cmp.Or(cmp.Compare(max(a.by, 0), max(b.by, 0)), cmp.Compare(a.Run, b.Run))
		})
		of.More = max(0, len(of.Elites)-maxElites)
		of.Elites = of.Elites[:len(of.Elites)-of.More]
		all = append(all, of)
	}
	slices.SortFunc(all, func(a, b propertyMap) int { return cmp.Compare(a.Property, b.Property) })
	return all
}

// reasons are why runs taught nothing, the most frequent first.
func reasons(r Record) (all []reason) {
	for _, run := range r.Runs {
		if run.Barren == "" {
			continue
		}
		if i := slices.IndexFunc(all, func(other reason) bool { return other.Why == run.Barren }); i >= 0 {
			all[i].Runs++
		} else {
			all = append(all, reason{run.Barren, 1})
		}
	}
	slices.SortStableFunc(all, func(a, b reason) int { return cmp.Compare(b.Runs, a.Runs) })
	return all[:min(len(all), maxReasons)]
}
