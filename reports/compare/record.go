package compare

import (
	"time"

	"lockcheck/checker"
	"lockcheck/checker/history"
	"lockcheck/reports"
)

// Run is what a comparison keeps of one run; the run's directory has the rest.
type Run struct {
	Seed       int64              `json:"seed"`
	Command    []string           `json:"command"`
	Dir        string             `json:"dir,omitempty"`    // relative to compare.json, with slashes; "" if none was made
	Report     string             `json:"report,omitempty"` // the same of its report.html; "" if none was written
	ExitCode   int                `json:"exit_code"`
	DurationNS int64              `json:"duration_ns"`     // of the whole command
	Error      string             `json:"error,omitempty"` // why there is no verdict
	Verdict    checker.Verdict    `json:"verdict,omitempty"`
	Reason     string             `json:"reason,omitempty"`
	Sentence   string             `json:"sentence,omitempty"`
	FirstNS    *int64             `json:"first_ns"` // when the first violation was complete, since the run's start
	Properties []Property         `json:"properties"`
	Exposure   []checker.Exposure `json:"exposure"` // what had to happen
	Ops        int64              `json:"ops"`
	// Availability is that of results.json, from 0 to 1.
	Availability float64  `json:"availability"`
	Outlived     int64    `json:"outlived_leases"`
	Story        []string `json:"story"` // of the first finding that a reader has to hear of
}

// Property is one property's verdict in one run.
type Property struct {
	Name    checker.Name    `json:"name"`
	Verdict checker.Verdict `json:"verdict"`
	Count   int64           `json:"count"`
	Why     string          `json:"why,omitempty"`
}

const (
	maxStory = 40  // lines
	maxText  = 600 // characters of anything that came from a run
)

// NewRun keeps of a run's results what a comparison shows.
func NewRun(r reports.Results) Run {
	run := Run{
		Seed: r.Seed, Verdict: r.Verdict, Reason: reports.Clip(reports.Plain(r.Reason), maxText),
		Sentence:   reports.Clip(reports.Sentence(history.Plan{Backend: r.Backend, Nemesis: r.Nemesis}, &r.Result), maxText),
		Properties: []Property{}, Exposure: []checker.Exposure{}, Story: []string{},
		Ops: r.Stats.Ops, Availability: r.Stats.Availability, Outlived: r.Stats.OutlivedLeases,
	}
	for _, p := range r.Properties {
		why := p.Reason
		for _, f := range p.Findings {
			if why == "" {
				why = f.Summary
			}
			if p.Verdict == checker.Violation && (run.FirstNS == nil || f.AtNS < *run.FirstNS) {
				run.FirstNS = &f.AtNS
			}
		}
		run.Properties = append(run.Properties, Property{p.Name, p.Verdict, p.Count, reports.Clip(reports.Plain(why), maxText)})
	}
	for _, e := range r.Exposure {
		if e.Min > 0 {
			run.Exposure = append(run.Exposure, e)
		}
	}
	if p := reports.Headline(&r.Result); p != nil && len(p.Findings) > 0 {
		run.Story = story(p.Findings[0])
	}
	return run
}

func story(f checker.Finding) []string {
	lines := []string{reports.Clip(reports.Plain(f.Summary), maxText)}
	for i, line := range f.Story {
		if i == maxStory {
			lines = append(lines, "... more in the report")
			break
		}
		lines = append(lines, reports.Clock(line.TimeNS)+"  "+reports.Clip(reports.Plain(line.Text), maxText))
	}
	if f.Cause.Text != "" {
		lines = append(lines, "cause: "+reports.Clip(reports.Plain(f.Cause.Text), maxText))
	}
	return lines
}

// conclusive tells whether the run could tell: it was made, and what was to be tested happened.
func (r Run) conclusive() bool {
	return r.Error == "" && (r.Verdict == checker.Violation || r.Verdict == checker.Pass)
}

// Duration is how long the whole command took.
func (r Run) Duration() time.Duration { return time.Duration(r.DurationNS) }

// of counts what properties of that verdict counted.
func (r Run) of(verdict checker.Verdict) (count int64) {
	for _, p := range r.Properties {
		if p.Verdict == verdict {
			count += p.Count
		}
	}
	return count
}
