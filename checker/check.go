// Package checker judges the history of a run: histories in, findings out. It reads no clock, no network and no file,
// so that the same recording gives the same verdict on any machine.
//
//	checker → property → explain ┐
//	        → figures            ┴→ model → history
//
// Here are Check and the one table of the properties. History is what was recorded, model the facts derived from it and the form of
// a result; property judges, one file a property; explain has causes, stories and witnesses; figures counts.
//
// The rules that comments cite by number (R4, J5) are in checker/RULES.md, each with the history that broke a simpler one.
package checker

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"lockcheck/checker/figures"
	"lockcheck/checker/model"
	"lockcheck/checker/property"
)

// Check judges a recording. The error is one of the sequences' own, or wraps ErrDefect, ErrCut, ErrUnknownProperty,
// ErrReading or ErrExcerpt.
func Check(rec model.Recording, opts Options) (*model.Result, *model.Model, error) {
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
	watch := property.Watching(&rec, opts.SoFar)
	m, counts, err := model.Build(rec, reading.FailedAs)
	if err != nil {
		return nil, nil, err
	}
	if opts.MaxFindings <= 0 {
		opts.MaxFindings = DefaultMaxFindings
	}
	j := newJudgement(m, opts, watch)
	exposed := j.judgeAll()
	result := &model.Result{Judged: []model.Name{}, Properties: []model.Property{}, OutcomeReading: reading}
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
		case o.Defect != nil:
			return nil, nil, o.Defect
		default:
			m.Windows = append(m.Windows, o.Windows...)
		}
	}
	result.Incidents = j.incidents(result)
	for _, k := range j.m.Locks {
		if j.m.Ordered() && !j.m.TokensProve(k) {
			m.DisorderedKeys = append(m.DisorderedKeys, k.Name)
		}
	}
	result.Exposure = exposed
	result.Stats = figures.Stats(j.m, counts, j.Superseding())
	result.Verdict, result.Reason = j.verdict(result)
	m.Forget() // reports keep the model
	return result, m, nil
}

// judgement is what all properties come to.
type judgement struct {
	*property.Judge
	m        *model.Model
	opts     Options
	mutex    sync.Mutex
	outcomes map[model.Name]*property.Outcome
}

func newJudgement(m *model.Model, opts Options, watch *property.Watch) *judgement {
	return &judgement{m: m, Judge: property.New(m, opts.MaxFindings, opts.Unconfirmed, watch), opts: opts, outcomes: map[model.Name]*property.Outcome{}}
}

// outcome judges a property once. Different ones may be asked for at the same time.
func (j *judgement) outcome(name model.Name) *property.Outcome {
	j.mutex.Lock()
	o := j.outcomes[name]
	j.mutex.Unlock()
	if o != nil {
		return o
	}
	for _, p := range properties {
		if p.Name == name {
			judged := p.judge(j.Judge)
			j.Withhold(p.stable, &judged)
			o = &judged
		}
	}
	j.mutex.Lock()
	defer j.mutex.Unlock()
	j.outcomes[name] = o
	return o
}

// judgeAll judges what is asked for, and counts what the run was exposed to.
func (j *judgement) judgeAll() (exposed []model.Exposure) {
	tasks := []func(){func() { exposed = figures.Exposure(j.m) }}
	for _, p := range properties {
		if j.asked(&p) {
			tasks = append(tasks, func() { j.outcome(p.Name) })
		}
	}
	slices.Reverse(tasks) // exposure takes the place of liveness, which is short
	model.RunParallel(tasks)
	return exposed
}

// asked reports whether a property is judged: one that was asked for by its name even if it does not apply, as n/a.
func (j *judgement) asked(p *row) bool {
	if j.opts.Properties == nil {
		return p.concerns(&j.m.Plan)
	}
	return slices.Contains(j.opts.Properties, p.Name)
}

// incidents counts those of all properties that are violated.
func (j *judgement) incidents(r *model.Result) int64 {
	var lists [][]property.Violation
	for _, p := range r.Properties {
		if p.Verdict == model.Violation {
			lists = append(lists, j.outcome(p.Name).Violations)
		}
	}
	return property.Incidents(lists...)
}

// property puts an outcome into words.
func (j *judgement) property(p row, o *property.Outcome) model.Property {
	out := model.Property{Name: p.Name, Layer: p.Layer, Verdict: model.Pass, Count: int64(len(o.Violations)) + o.More, Incidents: property.Incidents(o.Violations),
		Findings: []model.Finding{}, ConfirmedBy: o.ConfirmedBy}
	switch {
	case o.NotApplicable != "":
		out.Verdict, out.Reason = model.NotApplicable, o.NotApplicable
	case len(o.Violations) > 0 && o.Masked != "":
		out.Verdict, out.Reason = model.Masked, o.Masked
	case len(o.Violations) > 0:
		out.Verdict, out.Reason = model.Violation, o.Unconfirmed
		if p.Name == model.MutualExclusion {
			out.Verdict, out.Reason = j.maskedUnfinished(o.Violations)
		}
	case o.Inconclusive != "":
		out.Verdict, out.Reason = model.Inconclusive, o.Inconclusive
	default:
		out.Reason = cmp.Or(o.Unconfirmed, o.Untested)
		if p.tested == nil {
			break
		}
		if missing := p.tested(j.Judge); missing != "" {
			out.Verdict, out.Reason = model.Inconclusive, missing
		}
	}
	slices.SortStableFunc(o.Violations, func(a, b property.Violation) int {
		return cmp.Or(cmp.Compare(a.AtNS, b.AtNS), cmp.Compare(a.Key, b.Key))
	})
	for i, h := range o.Violations[:min(len(o.Violations), j.opts.MaxFindings)] {
		f := h.Finding()
		f.ID, f.Incident = fmt.Sprintf("%s-%d", p.Name, i+1), h.Incident
		out.Findings = append(out.Findings, f)
	}
	return out
}

// verdict is the run's: a violation is never hidden by an unknown, and a run that tested nothing does not pass.
func (j *judgement) verdict(r *model.Result) (model.Verdict, string) {
	var violated, unknown, inapplicable []string
	for _, e := range r.Exposure { // first: it is often why a property had nothing to judge
		if e.Count < e.Min {
			unknown = append(unknown, e.Text)
		}
	}
	for _, p := range r.Properties {
		switch p.Verdict {
		case model.NotApplicable:
			inapplicable = append(inapplicable, fmt.Sprintf("%s: %s", p.Name, p.Reason))
		case model.Violation:
			violated = append(violated, string(p.Name))
		case model.Inconclusive:
			unknown = append(unknown, fmt.Sprintf("%s: %s", p.Name, p.Reason))
		}
	}
	if len(violated) > 0 {
		return model.Violation, "violated: " + strings.Join(violated, ", ")
	}
	if x := j.m.Plan.Excerpt; x != nil {
		unknown = append(unknown, fmt.Sprintf("an excerpt made for %s, which it does not show; it can show nothing else", x.Finding))
	}
	if !j.m.Complete {
		unknown = append(unknown, "the run was ended before its end: its history has no end mark")
	}
	if words := keepsDying(j.m); words != "" {
		unknown = append(unknown, words)
	}
	if len(inapplicable) > 0 && len(inapplicable) == len(r.Properties) {
		unknown = append(unknown, "no property that was judged applies: "+strings.Join(inapplicable, "; "))
	}
	if len(unknown) > 0 {
		return model.Inconclusive, strings.Join(unknown, "; ")
	}
	return model.Pass, ""
}

func joined[T ~string](names []T) string {
	words := make([]string, len(names))
	for i, n := range names {
		words[i] = string(n)
	}
	return strings.Join(words, ", ")
}

// maxDeaths is how often the client at one place may end by itself before the run shows nothing about its lock: a program
// that keeps crashing is not what its author runs in production.
const maxDeaths = 2

// keepsDying says which clients ended by themselves over and over; "" if none did. A successor ("c2-2") takes the place of
// its predecessor ("c2").
func keepsDying(m *model.Model) string {
	byPlace := map[string]int{}
	for _, name := range m.Deaths() {
		place, _, _ := strings.Cut(name, "-")
		byPlace[place]++
	}
	var words []string
	for _, place := range slices.Sorted(maps.Keys(byPlace)) {
		if n := byPlace[place]; n > maxDeaths {
			words = append(words, fmt.Sprintf("%s %d times", place, n))
		}
	}
	if len(words) == 0 {
		return ""
	}
	return "the lock client kept ending by itself (" + strings.Join(words, ", ") + ")"
}
