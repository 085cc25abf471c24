// Package checker judges the history of a run: histories in, findings out. It reads no clock, no network and no file,
// so that the same recording gives the same verdict on any machine.
//
// The rules that comments cite by number (R4, J5) are in checker/RULES.md, each with the history that broke a simpler one.
package checker

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"lockcheck/checker/history"
)

// Recording is a run as it was recorded. Each sequence is read once, in order, and may end with an error.
type Recording struct {
	Plan     history.Plan
	Events   iter.Seq2[history.Event, error]
	Requests iter.Seq2[history.Request, error]
}

// Options bound the work and choose what is judged.
type Options struct {
	Properties  []Name // nil: all
	MaxFindings int    // stories kept for each property; 0: DefaultMaxFindings
	// FailedAs is how operations that failed are read: history.Fail, which is the zero value's meaning, or history.Info.
	FailedAs history.Type
	// Unconfirmed leaves Porcupine out: the exact algorithms alone judge, confirmed_by stays empty, and failed tries that
	// only a search could explain are inconclusive.
	Unconfirmed bool
	// SoFar judges a recording that is not closed as far as it goes: only findings that no later line can excuse are reported.
	SoFar bool
}

// DefaultMaxFindings is how many findings of one property are kept with their stories; all of them are counted.
const DefaultMaxFindings = 50

// ErrDefect marks a recording that can only come from a bug of lockcheck or of a lock client, such as an acknowledged
// write that the resource's log does not hold. It is never a verdict.
var ErrDefect = errors.New("the recording contradicts itself")

// ErrClient marks an ErrDefect that a lock client explains: its answers, or the requests that it sent, are not what lockcheck's own resource,
// which no fault disturbs, has in its log. Of a client that lockcheck brings it is a bug of lockcheck's all the same.
var ErrClient = &clientDefect{}

type clientDefect struct{ what string }

func (d *clientDefect) Error() string { return ErrDefect.Error() + ": " + d.what }

func (d *clientDefect) Is(target error) bool {
	_, same := target.(*clientDefect)
	return same || target == ErrDefect
}

// ErrCut marks a recording whose resource's log lacks its end: what was answered last is not in it, and nothing that was
// asked for later is.
var ErrCut = errors.New("the resource's log was cut short")

// ErrUnknownProperty marks a name in Options that no property has. The message lists those there are.
var ErrUnknownProperty = errors.New("unknown property")

// outcome is what one property came to before it is put into words.
type outcome struct {
	hits    []hit
	more    int64 // hits beyond those, of which nothing but their number is kept
	windows []Window
	// notApplicable or inconclusive say in a sentence why there is no plain verdict; hits outweigh inconclusive.
	notApplicable, inconclusive string
	// masked says in a sentence what kept all of the hits from the data.
	masked      string
	confirmedBy string
	unconfirmed string // why the independent judge did not get to its end
	defect      error  // the independent judge disagrees
	// untested says in a sentence what of the property a pass says nothing of.
	untested string
}

// hit is one violation. Its finding is only written if it is among those kept.
type hit struct {
	key  string
	atNS int64
	// incident names what led to it: the hold that was superseded or lost. Hits that share it are one incident.
	incident string
	finding  func() Finding
}

// incidentOn names the incident of what happened to a lock as a whole.
func incidentOn(k *keyView) string { return "lock " + k.name }

// incidents counts the different incidents of hits.
func incidents(lists ...[]hit) int64 {
	seen := map[string]bool{}
	for _, hits := range lists {
		for _, h := range hits {
			seen[h.incident] = true
		}
	}
	return int64(len(seen))
}

// Check judges a recording. The error is one of the sequences' own, or wraps ErrDefect, ErrCut, ErrUnknownProperty,
// ErrReading or ErrExcerpt.
func Check(rec Recording, opts Options) (*Result, *Model, error) {
	for _, name := range opts.Properties {
		if !slices.Contains(Names(), name) {
			return nil, nil, fmt.Errorf("%w %q; there are %s", ErrUnknownProperty, name, joined(Names()))
		}
	}
	if err := rec.Plan.Validate(); err != nil {
		return nil, nil, err
	}
	reading, err := readingOf(opts)
	if err != nil {
		return nil, nil, err
	}
	if rec, opts, err = excerpted(rec, opts); err != nil {
		return nil, nil, err
	}
	soFar := beginSoFar(&rec, opts)
	m, counts, err := build(rec, reading.FailedAs)
	if err != nil {
		return nil, nil, err
	}
	if opts.MaxFindings <= 0 {
		opts.MaxFindings = DefaultMaxFindings
	}
	j := newJudge(m, opts)
	j.soFar = soFar.of(m)
	exposed := j.judgeAll()
	result := &Result{Judged: []Name{}, Properties: []Property{}, OutcomeReading: reading}
	for _, p := range properties {
		if !j.asked(&p) {
			if p.concerns(&m.Plan) {
				result.NotJudged = append(result.NotJudged, p.Name)
			}
			continue
		}
		result.Judged = append(result.Judged, p.Name)
		result.Properties = append(result.Properties, j.property(p, j.outcome(p.Name)))
	}
	for _, p := range properties { // also those that only decide what is masked
		o := j.outcomes[p.Name]
		switch {
		case o == nil:
		case o.defect != nil:
			return nil, nil, o.defect
		default:
			m.Windows = append(m.Windows, o.windows...)
		}
	}
	result.Incidents = j.incidents(result)
	for _, k := range j.keys {
		if j.ordered() && !j.tokensProve(k) {
			m.disorderedKeys = append(m.disorderedKeys, k.name)
		}
	}
	result.Exposure = exposed
	result.Stats = j.stats(counts)
	result.Verdict, result.Reason = j.verdict(result)
	return result, m, nil
}

// judgeAll judges what is asked for, and counts what the run was exposed to.
func (j *judge) judgeAll() (exposed []Exposure) {
	tasks := []func(){func() { exposed = j.exposure() }}
	for _, p := range properties {
		if j.asked(&p) {
			tasks = append(tasks, func() { j.outcome(p.Name) })
		}
	}
	slices.Reverse(tasks) // exposure takes the place of liveness, which is short
	runParallel(tasks)
	return exposed
}

// asked reports whether a property is judged: one that was asked for by its name even if it does not apply, as n/a.
func (j *judge) asked(p *property) bool {
	if j.opts.Properties == nil {
		return p.concerns(&j.m.Plan)
	}
	return slices.Contains(j.opts.Properties, p.Name)
}

// incidents counts those of all properties that are violated.
func (j *judge) incidents(r *Result) int64 {
	var lists [][]hit
	for _, p := range r.Properties {
		if p.Verdict == Violation {
			lists = append(lists, j.outcome(p.Name).hits)
		}
	}
	return incidents(lists...)
}

// property puts an outcome into words.
func (j *judge) property(p property, o *outcome) Property {
	out := Property{Name: p.Name, Layer: p.Layer, Verdict: Pass, Count: int64(len(o.hits)) + o.more, Incidents: incidents(o.hits),
		Findings: []Finding{}, ConfirmedBy: o.confirmedBy}
	switch {
	case o.notApplicable != "":
		out.Verdict, out.Reason = NotApplicable, o.notApplicable
	case len(o.hits) > 0 && o.masked != "":
		out.Verdict, out.Reason = Masked, o.masked
	case len(o.hits) > 0:
		out.Verdict, out.Reason = Violation, o.unconfirmed
		if p.Name == MutualExclusion {
			out.Verdict, out.Reason = j.maskedSoFar(o.hits)
		}
	case o.inconclusive != "":
		out.Verdict, out.Reason = Inconclusive, o.inconclusive
	default:
		out.Reason = cmp.Or(o.unconfirmed, o.untested)
	}
	slices.SortStableFunc(o.hits, func(a, b hit) int { return cmp.Or(cmp.Compare(a.atNS, b.atNS), cmp.Compare(a.key, b.key)) })
	for i, h := range o.hits[:min(len(o.hits), j.opts.MaxFindings)] {
		f := h.finding()
		f.ID, f.Incident = fmt.Sprintf("%s-%d", p.Name, i+1), h.incident
		out.Findings = append(out.Findings, f)
	}
	return out
}

// verdict is the run's: a violation is never hidden by an unknown, and a run that tested nothing does not pass.
func (j *judge) verdict(r *Result) (Verdict, string) {
	var violated, unknown, inapplicable []string
	for _, p := range r.Properties {
		switch p.Verdict {
		case NotApplicable:
			inapplicable = append(inapplicable, fmt.Sprintf("%s: %s", p.Name, p.Reason))
		case Violation:
			violated = append(violated, string(p.Name))
		case Inconclusive:
			unknown = append(unknown, fmt.Sprintf("%s: %s", p.Name, p.Reason))
		}
	}
	if len(violated) > 0 {
		return Violation, "violated: " + strings.Join(violated, ", ")
	}
	for _, e := range r.Exposure {
		if e.Count < e.Min {
			unknown = append(unknown, e.Text)
		}
	}
	if x := j.m.Plan.Excerpt; x != nil {
		unknown = append(unknown, fmt.Sprintf("an excerpt made for %s, which it does not show; it can show nothing else", x.Finding))
	}
	if !j.m.Complete {
		unknown = append(unknown, "the run was ended before its end: its history has no end mark")
	}
	if words := j.m.keepsDying(); words != "" {
		unknown = append(unknown, words)
	}
	if len(inapplicable) > 0 && len(inapplicable) == len(r.Properties) {
		unknown = append(unknown, "no property that was judged applies: "+strings.Join(inapplicable, "; "))
	}
	if len(unknown) > 0 {
		return Inconclusive, strings.Join(unknown, "; ")
	}
	return Pass, ""
}

func joined[T ~string](names []T) string {
	words := make([]string, len(names))
	for i, n := range names {
		words[i] = string(n)
	}
	return strings.Join(words, ", ")
}
