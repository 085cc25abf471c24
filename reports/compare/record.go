package compare

import (
	"slices"
	"time"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
	"lockcheck/reports/rundir"
	"lockcheck/reports/words"
)

// Run is what a comparison keeps of one run; the run's directory has the rest.
type Run struct {
	Seed       int64            `json:"seed"`
	Command    []string         `json:"command"`
	Dir        string           `json:"dir,omitempty"`       // relative to compare.json, with slashes; "" if none was made
	Report     string           `json:"report,omitempty"`    // the same of its report.html; "" if none was written
	Unwritten  string           `json:"unwritten,omitempty"` // why its report was not
	ExitCode   int              `json:"exit_code"`
	DurationNS int64            `json:"duration_ns"`     // of the whole command
	Error      string           `json:"error,omitempty"` // why there is no verdict
	Verdict    model.Verdict    `json:"verdict,omitempty"`
	Reason     string           `json:"reason,omitempty"`
	Sentence   string           `json:"sentence,omitempty"`
	FirstNS    *int64           `json:"first_ns"`  // when the first finding of the headline was complete, since the run's start
	Incidents  int64            `json:"incidents"` // of all properties that are violated
	Properties []Property       `json:"properties"`
	Exposure   []model.Exposure `json:"exposure"` // what had to happen
	Ops        int64            `json:"ops"`
	// Availability is that of results.json, from 0 to 1.
	Availability float64 `json:"availability"`
	Outlived     int64   `json:"outlived_leases"`
	// AttemptsPerGrant and Overtakes are those of results.json; 0 attempts where no client reports them.
	AttemptsPerGrant float64 `json:"attempts_per_grant"`
	Overtakes        int64   `json:"overtakes"`
	// TakeOver is that of results.json, and Losses how often a holder was told that its lock had passed to another.
	TakeOver model.Quantiles `json:"take_over"`
	Losses   int64           `json:"losses"`
	// Rejected is how many writes the resource rejected.
	Rejected int64 `json:"rejected"`
	// StalledNS is for how long the harness stood still, and Alone why the run was made again with nothing beside it.
	StalledNS int64 `json:"stalled_ns"`
	// ThrottledNS is for how long the quota of its control group kept it, and what it runs, from the processors.
	ThrottledNS int64             `json:"throttled_ns,omitempty"`
	Alone       string            `json:"alone,omitempty"`
	Kept        string            `json:"kept,omitempty"`     // why the run was not judged again when all were: its recorded verdict counts
	Versions    map[string]string `json:"versions,omitempty"` // of what it was made with, by name
	Story       []string          `json:"story"`              // of the first finding that a reader has to hear of
}

// Property is one property's verdict in one run.
type Property struct {
	Name      model.Name    `json:"name"`
	Verdict   model.Verdict `json:"verdict"`
	Count     int64         `json:"count"`     // of findings
	Incidents int64         `json:"incidents"` // that those led back to
	Why       string        `json:"why,omitempty"`
	Causes    []string      `json:"causes,omitempty"` // the kinds of cause of the findings that are kept, in order
}

const (
	maxStory = 40  // lines
	maxText  = 600 // characters of anything that came from a run
)

// planOf is as much of a run's plan as its results tell.
func planOf(r rundir.Results) history.Plan {
	p := history.Plan{Backend: r.Backend, Nemesis: r.Nemesis, Resource: r.Resource, Execution: r.Execution}
	if compares, underTest := history.ComparisonNamed(r.Compares); underTest {
		p.UnderTest, p.Fenced = &history.UnderTest{Compares: r.Compares}, compares == history.CompareTokens
	}
	if tokens := r.Property(model.TokenMonotonicity); tokens != nil && tokens.Verdict == model.NotApplicable {
		p.Tokens = history.TokensNone // so that fencing had nothing to compare
	}
	return p
}

// NewRun keeps of a run's results what a comparison shows.
func NewRun(r rundir.Results) Run {
	run := Run{
		Seed: r.Seed, Verdict: r.Verdict, Reason: words.Clip(words.Plain(r.Reason), maxText),
		Sentence:  words.Clip(words.Sentence(planOf(r), &r.Result), maxText),
		Incidents: r.Incidents, Properties: []Property{}, Exposure: []model.Exposure{}, Story: []string{},
		AttemptsPerGrant: r.Stats.AttemptsPerGrant, Overtakes: r.Stats.Overtakes, StalledNS: r.Stats.StalledNS, ThrottledNS: r.Stats.ThrottledNS, TakeOver: r.Stats.TakeOver, Losses: r.Stats.LossSignal.Count, Rejected: r.Stats.Rejected, Versions: r.Versions,
		Ops: r.Stats.Ops, Availability: r.Stats.Availability, Outlived: r.Stats.OutlivedLeases,
	}
	for _, p := range r.Properties {
		why := p.Reason
		if why == "" && len(p.Findings) > 0 {
			why = p.Findings[0].Summary
		}
		run.Properties = append(run.Properties, Property{p.Name, p.Verdict, p.Count, p.Incidents, words.Clip(words.Plain(why), maxText), causes(p)})
	}
	for _, e := range r.Exposure {
		if e.Min > 0 {
			run.Exposure = append(run.Exposure, e)
		}
	}
	if p := words.Headline(&r.Result); p != nil && len(p.Findings) > 0 {
		run.Story, run.FirstNS = story(p.Findings[0]), &p.Findings[0].AtNS
	}
	return run
}

// causes are the kinds of cause that the findings of a property have, each once.
func causes(p model.Property) (kinds []string) {
	for _, f := range p.Findings {
		kinds = append(kinds, words.Clip(words.Plain(f.Cause.Kind), maxText))
	}
	slices.Sort(kinds)
	return slices.Compact(kinds)
}

// causePrefix begins the last line of a story whose cause is known.
const causePrefix = "cause: "

func story(f model.Finding) []string {
	lines := []string{words.Clip(words.Plain(f.Summary), maxText)}
	for i, line := range f.Story {
		if i == maxStory {
			lines = append(lines, "... more in the report")
			break
		}
		lines = append(lines, history.Moment(line.TimeNS)+"  "+words.Clip(words.Plain(line.Text), maxText))
	}
	if f.Cause.Text != "" {
		lines = append(lines, causePrefix+words.Clip(words.Plain(f.Cause.Text), maxText))
	}
	return lines
}

// lost reports whether the run had a verdict that its recording does not bear out any more.
func (r Run) lost() bool { return r.Error != "" && r.Verdict != "" }

// conclusive reports whether the run could tell: it was made, and what was to be tested happened.
func (r Run) conclusive() bool {
	return r.Error == "" && (r.Verdict == model.Violation || r.Verdict == model.Pass)
}

// foundSomething reports whether the run shows a violation, or one that fencing masked. Such a run counts as it is.
func (r Run) foundSomething() bool {
	return r.Verdict == model.Violation || slices.ContainsFunc(r.Properties, func(p Property) bool {
		return p.Verdict == model.Violation || p.Verdict == model.Masked
	})
}

// Duration is how long the whole command took.
func (r Run) Duration() time.Duration { return time.Duration(r.DurationNS) }

// property is a property's verdict; the zero Property if it was not judged.
func (r Run) property(name model.Name) Property {
	for _, p := range r.Properties {
		if p.Name == name {
			return p
		}
	}
	return Property{}
}

// of counts the findings of properties of that verdict, and the incidents of each.
func (r Run) of(verdict model.Verdict) (findings, incidents int64) {
	for _, p := range r.Properties {
		if p.Verdict == verdict {
			findings += p.Count
			incidents += p.Incidents
		}
	}
	return findings, incidents
}

// headline is the violated property that a reader has to hear of first; "" if there is none.
func (r Run) headline() (first model.Name) {
	for _, p := range r.Properties {
		if p.Verdict == model.Violation && (first == "" || words.ByHarm(p.Name, first) < 0) {
			first = p.Name
		}
	}
	return first
}
