package reports

import (
	"embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strconv"
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

// page is what the template fills in.
type page struct {
	Style    template.CSS
	Scripts  []template.JS
	Title    string
	Sentence string
	Face     face
	Verdict  string
	Plan     history.Plan
	Facts    []fact // of the plan
	Again    string
	CheckIt  string
	Files    string // where the run's files are, seen from the page
	Cards    []card
	Groups   []group
	Rejected []rejectedWrite
	Refused  int64 // how many writes were rejected
	Timeline *timeline
	Still    *sheet
	Faults   []faultRow
	Exposure []exposureRow
	Stats    checker.Stats
	Figures  []fact
	Latency  []latencyRow
	Windows  []windowLink
	Versions []fact
	Settings []fact
	Host     []fact
	Complete bool
}

type fact struct{ Name, Value, Note string }

type card struct {
	checker.Property
	Face         face
	Meaning      string
	LayerMeaning string
	Why          string
	First        string // the id of its first finding
}

type group struct {
	Name  string
	Count int64
	Shown int
	Face  face
	Word  checker.Verdict
	Note  string // how few faults are behind them
	Items []finding
	Rest  []finding
}

type finding struct {
	checker.Finding
	Open    bool
	Face    face
	Picture picture
	Holds   []*checker.Hold
	Class   []string // of each hold's swatch
	Writes  []history.Request
	// Findings of other properties that the same fault caused, one each, and how many more it caused.
	SameAs   []string
	MoreSame int
	CheckIt  string // the command that judges its witness
}

type faultRow struct {
	Name, Target, Role, Hold, From, To, Lasted, Note string
}

type exposureRow struct {
	checker.Exposure
	Words   string
	Missing bool
}

type latencyRow struct {
	Name string
	Q    checker.Quantiles
}

type windowLink struct{ Name, Key, File string }

// WriteReport replaces report.html and Porcupine's pictures beside it.
func (d *Dir) WriteReport(j Judgement) error {
	windows, err := d.writeWindows(j)
	if err != nil {
		return err
	}
	if err := writeAtomically(d.ReportPath(), func(w io.Writer) error { return renderPage(w, j, windows) }); err != nil {
		return fmt.Errorf("cannot write the report: %w", err)
	}
	return nil
}

func renderPage(w io.Writer, j Judgement, windows []windowLink) error {
	style, err := pageFiles.ReadFile("page/style.css")
	if err != nil {
		return err
	}
	p := newPage(j, windows)
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
		Verdict:  string(j.Result.Verdict),
		Plan:     j.Plan,
		Facts:    planFacts(j.Plan),
		Again:    Again(j.Plan),
		CheckIt:  "lockcheck check RUN",
		Stats:    j.Result.Stats,
		Figures:  figures(j),
		Windows:  windows,
		Versions: sortedFacts(j.Plan.Versions),
		Settings: sortedFacts(j.Plan.Settings),
		Host:     sortedFacts(j.Plan.Host),
		Complete: j.Model.Complete,
	}
	if j.Result.OutcomeReading.FailedAs == history.Info {
		p.CheckIt, p.Files = p.CheckIt+" --read-failed-as=info", "../"
	}
	for _, property := range j.Result.Properties {
		p.Cards = append(p.Cards, newCard(property))
	}
	p.Groups = findingGroups(j.Result, ix)
	p.Rejected, p.Refused = rejectedWrites(j.Model)
	p.Timeline = newTimeline(j, ix)
	p.Still = p.Timeline.still()
	p.Faults = faultRows(j.Model)
	for _, e := range j.Result.Exposure {
		p.Exposure = append(p.Exposure, exposureRow{e, exposureWords(e), e.Count < e.Min})
	}
	for _, name := range sortedKeys(j.Result.Stats.Latency) {
		p.Latency = append(p.Latency, latencyRow{name, j.Result.Stats.Latency[name]})
	}
	return p
}

func newCard(p checker.Property) card {
	c := card{Property: p, Face: faceOf(p.Verdict), Meaning: wordings[p.Name].meaning, LayerMeaning: layerMeanings[p.Layer]}
	c.Why = p.Reason
	if len(p.Findings) > 0 {
		c.First = p.Findings[0].ID
		c.Why = firstOf(c.Why, p.Findings[0].Summary)
	}
	return c
}

// shownOpenly is how many findings of a property stand in the page's flow; the rest is one click away.
const shownOpenly = 8

// findingGroups orders the findings by harm, as the headline does; the very first one is open.
func findingGroups(r *checker.Result, ix *index) []group {
	same := sameFault(r)
	var groups []group
	add := func(p *checker.Property) {
		if len(p.Findings) == 0 {
			return
		}
		g := group{Name: string(p.Name), Count: p.Count, Shown: len(p.Findings), Face: faceOf(p.Verdict), Word: p.Verdict}
		faults := map[int64]bool{}
		for i, f := range p.Findings {
			item := newFinding(f, ix)
			item.Face, item.Open = g.Face, len(groups) == 0 && i == 0
			item.SameAs, item.MoreSame = same.others(f, p.Name)
			item.CheckIt = checkWitness(r, whereResults(r), f)
			faults[f.Cause.Fault] = true
			if i < shownOpenly {
				g.Items = append(g.Items, item)
			} else {
				g.Rest = append(g.Rest, item)
			}
		}
		delete(faults, 0)
		if len(faults) > 0 && len(faults) < len(p.Findings) {
			g.Note = "from " + plural(int64(len(faults)), "fault", "faults")
		}
		groups = append(groups, g)
	}
	for _, verdict := range []checker.Verdict{checker.Violation, checker.Inconclusive, checker.Masked, checker.Pass, checker.NotApplicable} {
		for _, name := range byHarm {
			if p := property(r, name); p != nil && p.Verdict == verdict {
				add(p)
			}
		}
	}
	for i := range r.Properties {
		if !slices.Contains(byHarm, r.Properties[i].Name) {
			add(&r.Properties[i])
		}
	}
	return groups
}

// incidents are the findings by the fault that caused them, in the order of harm: one pause often violates several
// properties, and several times.
type incidents map[int64][]incident

type incident struct {
	id   string
	name checker.Name
}

func sameFault(r *checker.Result) incidents {
	same := incidents{}
	for _, name := range byHarm {
		p := property(r, name)
		if p == nil {
			continue
		}
		for _, f := range p.Findings {
			if f.Cause.Fault != 0 {
				same[f.Cause.Fault] = append(same[f.Cause.Fault], incident{f.ID, name})
			}
		}
	}
	return same
}

// others are the first finding of each other property that the fault of f also caused, and how many more there are.
func (same incidents) others(f checker.Finding, of checker.Name) (ids []string, more int) {
	told := map[checker.Name]bool{of: true}
	for _, i := range same[f.Cause.Fault] {
		switch {
		case i.id == f.ID:
		case told[i.name]:
			more++
		default:
			told[i.name] = true
			ids = append(ids, i.id)
		}
	}
	return ids, more
}

func newFinding(f checker.Finding, ix *index) finding {
	item := finding{Finding: f, Picture: drawFinding(f, ix)}
	for i, id := range f.Holds {
		h := ix.holds[id]
		if h == nil {
			continue
		}
		class := "older"
		if i == len(f.Holds)-1 && i > 0 {
			class = "newer"
		}
		item.Holds, item.Class = append(item.Holds, h), append(item.Class, class)
	}
	item.Writes = append(item.Writes, ix.requestsWithin(f.Key, 1, 0, f.Requests)...)
	return item
}

// maxFaultRows bounds the table of faults; the history has all of them.
const maxFaultRows = 500

func faultRows(m *checker.Model) []faultRow {
	var rows []faultRow
	for _, f := range m.Faults[:min(len(m.Faults), maxFaultRows)] {
		from, to := faultSpan(f, m.EndNS)
		row := faultRow{Name: string(f.Name), Target: f.Target, Role: f.Role, Hold: f.Hold, From: clock(from), To: clock(to),
			Lasted: span(to - from)}
		switch {
		case f.EffectiveNS == 0:
			row.Note = "never seen to work"
		case f.HealNS == 0 && f.HealedNS == 0:
			row.Note = "never taken back"
		default:
			row.Note = "seen to work"
		}
		if f.Error != "" {
			row.Note += ": " + f.Error
		}
		rows = append(rows, row)
	}
	return rows
}

func planFacts(p history.Plan) []fact {
	ttl := spanMS(p.EffectiveMS)
	note := ""
	if p.TTLMS != p.EffectiveMS {
		note = spanMS(p.TTLMS) + " asked for"
	}
	tokens := string(p.Tokens)
	var facts []fact
	if words := excerptWords(p); words != "" {
		facts = append(facts, fact{"excerpt", p.Excerpt.Finding, words})
	}
	return append(facts, []fact{
		{"backend", p.Backend, plural(int64(p.Nodes), "server", "servers")},
		{"lock client", p.LockClient, plural(int64(p.Clients), "process", "processes")},
		{"workload", p.Workload, map[bool]string{true: "the storage compares tokens", false: "the storage takes every write"}[p.Fenced]},
		{"nemesis", p.Nemesis, ""},
		{"guard", p.Guard, guardNotes[p.Guard]},
		{"lease", ttl, note},
		{"tokens", tokens, p.TokensReason},
		{"provider", p.Provider, ""},
		{"seed", strconv.FormatInt(p.Seed, 10), ""},
	}...)
}

var guardNotes = map[string]string{
	"none":         "clients never look at their lock again",
	"before-work":  "clients look at their lock once, then work, then write",
	"before-write": "clients look at their lock again just before they write",
}

func figures(j Judgement) []fact {
	s := j.Result.Stats
	return []fact{
		{"operations", grouped(s.Ops), fmt.Sprintf("%s ok, %s failed, %s unknown", grouped(s.OK), grouped(s.Fail), grouped(s.Info))},
		{"pace", strconv.FormatFloat(s.OpsPerSecond, 'f', 1, 64) + "/s", "over " + span(s.DurationNS)},
		{"available", percent(s.Availability), "of the seconds in which somebody asked"},
		{"stale writes", grouped(s.StaleAccepted), fmt.Sprintf("accepted; %s rejected, %s held back by the guard", grouped(s.Rejected), grouped(s.Guarded))},
		{"leases outlived", grouped(s.OutlivedLeases), fmt.Sprintf("by faults; %.2f stale writes accepted for each", s.StalePerOutlived)},
		{"stalls", grouped(s.Stalls), span(s.StalledNS) + " in all; nothing is blamed on those"},
	}
}

func sortedFacts(m map[string]string) []fact {
	var facts []fact
	for _, name := range sortedKeys(m) {
		facts = append(facts, fact{Name: name, Value: m[name]})
	}
	return facts
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, strings.Compare)
	return keys
}
