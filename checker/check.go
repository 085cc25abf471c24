// Package checker judges the history of a run: histories in, findings out. It reads no clock, no network and no file,
// so that the same recording gives the same verdict on any machine.
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
}

// DefaultMaxFindings is how many findings of one property are kept with their stories; all of them are counted.
const DefaultMaxFindings = 50

// ErrDefect marks a recording that can only come from a bug of lockcheck or of a lock client, such as an acknowledged
// write that the resource's log does not hold. It is never a verdict.
var ErrDefect = errors.New("the recording contradicts itself")

// ErrCut marks a recording whose resource's log lacks its end: what was answered last is not in it, and nothing that was
// asked for later is.
var ErrCut = errors.New("the resource's log was cut short")

// ErrUnknownProperty marks a name in Options that no property has. The message lists those there are.
var ErrUnknownProperty = errors.New("unknown property")

// property is one row of the table of everything that is checked.
type property struct {
	name  Name
	layer Layer
	judge func(*judge) outcome
}

// properties is the table, in the order in which reports show it.
var properties = []property{
	{MutualExclusion, LayerBelief, (*judge).mutualExclusion},
	{LockLinearizability, LayerService, (*judge).lockLinearizability},
	{EarlyExpiry, LayerService, (*judge).earlyExpiry},
	{ReleaseByOwner, LayerService, (*judge).releaseByOwner},
	{TokenMonotonicity, LayerFencing, (*judge).tokenMonotonicity},
	{StaleWrite, LayerFencing, (*judge).staleWrite},
	{LostUpdate, LayerEffect, (*judge).lostUpdate},
	{ResourceLinearizability, LayerEffect, (*judge).resourceLinearizability},
	{Liveness, LayerLiveness, (*judge).liveness},
}

// Names are the properties there are, in the order in which reports show them.
func Names() []Name {
	names := make([]Name, len(properties))
	for i, p := range properties {
		names[i] = p.name
	}
	return names
}

// outcome is what one property came to before it is put into words.
type outcome struct {
	hits    []hit
	windows []Window
	// notApplicable or inconclusive say in a sentence why there is no plain verdict; hits outweigh inconclusive.
	notApplicable, inconclusive string
	confirmedBy                 string
	unconfirmed                 string // why the independent judge did not get to its end
	defect                      error  // the independent judge disagrees
}

// hit is one violation. Its finding is only written if it is among those kept.
type hit struct {
	key     string
	atNS    int64
	finding func() Finding
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
	m, counts, err := build(rec, reading.FailedAs)
	if err != nil {
		return nil, nil, err
	}
	if opts.MaxFindings <= 0 {
		opts.MaxFindings = DefaultMaxFindings
	}
	j := newJudge(m, opts)
	exposed := j.judgeAll()
	result := &Result{Properties: []Property{}, OutcomeReading: reading}
	for _, p := range properties {
		if opts.Properties != nil && !slices.Contains(opts.Properties, p.name) {
			continue
		}
		result.Properties = append(result.Properties, j.property(p, j.outcome(p.name)))
	}
	for _, p := range properties { // also those that only decide what is masked
		o := j.outcomes[p.name]
		switch {
		case o == nil:
		case o.defect != nil:
			return nil, nil, o.defect
		default:
			m.Windows = append(m.Windows, o.windows...)
		}
	}
	result.Exposure = exposed
	result.Stats = j.stats(counts)
	result.Verdict, result.Reason = j.verdict(result)
	return result, m, nil
}

// judgeAll judges what is asked for, and counts what the run was exposed to.
func (j *judge) judgeAll() (exposed []Exposure) {
	things := []func(){func() { exposed = j.exposure() }}
	for _, p := range properties {
		if j.opts.Properties == nil || slices.Contains(j.opts.Properties, p.name) {
			things = append(things, func() { j.outcome(p.name) })
		}
	}
	slices.Reverse(things) // exposure takes the place of liveness, which is short
	atOnce(things)
	return exposed
}

// property puts an outcome into words.
func (j *judge) property(p property, o *outcome) Property {
	out := Property{Name: p.name, Layer: p.layer, Verdict: Pass, Count: int64(len(o.hits)), Findings: []Finding{}, ConfirmedBy: o.confirmedBy}
	switch {
	case o.notApplicable != "":
		out.Verdict, out.Reason = NotApplicable, o.notApplicable
	case len(o.hits) > 0:
		out.Verdict, out.Reason = Violation, o.unconfirmed
		if p.name == MutualExclusion {
			out.Verdict, out.Reason = j.masked(o.hits)
		}
	case o.inconclusive != "":
		out.Verdict, out.Reason = Inconclusive, o.inconclusive
	default:
		out.Reason = o.unconfirmed
	}
	slices.SortStableFunc(o.hits, func(a, b hit) int { return cmp.Or(cmp.Compare(a.atNS, b.atNS), cmp.Compare(a.key, b.key)) })
	for i, h := range o.hits[:min(len(o.hits), j.opts.MaxFindings)] {
		f := h.finding()
		f.ID = fmt.Sprintf("%s-%d", p.name, i+1)
		out.Findings = append(out.Findings, f)
	}
	return out
}

// masked is J10: belief overlaps on a key are no harm if the fencing let nothing stale through on that key.
func (j *judge) masked(hits []hit) (Verdict, string) {
	if !j.m.Plan.Fenced || j.m.Plan.Tokens != history.TokensOrdered {
		return Violation, ""
	}
	if j.m.Plan.Excerpt != nil {
		return Violation, "not masked in the run that this is an excerpt of"
	}
	overlapped := map[string]bool{}
	for _, h := range hits {
		overlapped[h.key] = true
	}
	for _, name := range []Name{StaleWrite, TokenMonotonicity, LostUpdate, ResourceLinearizability} {
		o := j.outcome(name)
		if o.inconclusive != "" || o.notApplicable != "" {
			return Violation, fmt.Sprintf("not masked: %s did not pass", name)
		}
		for _, h := range o.hits {
			if overlapped[h.key] {
				return Violation, fmt.Sprintf("not masked: %s is violated on %s", name, h.key)
			}
		}
	}
	return Masked, "clients believed in one lock at the same time, and the fencing tokens let nothing stale through"
}

// verdict is the run's: a violation is never hidden by an unknown, and a run that tested nothing does not pass.
func (j *judge) verdict(r *Result) (Verdict, string) {
	var violated, unknown []string
	for _, p := range r.Properties {
		switch p.Verdict {
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
