package rundir

import (
	"fmt"
	"io"
	"slices"
	"time"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
)

// Results is results.json: the judgement of a run beside the main fields of its plan. The order of the fields is the
// order in the file.
type Results struct {
	Version int    `json:"version"`
	Run     string `json:"run"`
	// CheckedAt is the only field in which two checks of one run differ (RFC 3339, UTC).
	CheckedAt  string           `json:"checked_at"`
	Backend    string           `json:"backend"`
	LockClient string           `json:"client"`
	Workload   string           `json:"workload"`
	Resource   history.Resource `json:"resource"`
	// Compares is what a resource under test had to compare in the run, a word of history.ComparisonNames; "" of one of lockcheck's own.
	Compares string `json:"resource_compares,omitempty"`
	// Execution is when jobs record their slots; "" of a workload that has none.
	Execution   history.Execution `json:"execution,omitempty"`
	Nemesis     string            `json:"nemesis"`
	PlanFile    string            `json:"plan_file,omitempty"` // that the schedule was read from, if the nemesis did not draw it
	Guard       string            `json:"guard"`
	Provider    string            `json:"provider"`
	Seed        int64             `json:"seed"`
	TTLMS       int64             `json:"ttl_ms"`
	EffectiveMS int64             `json:"effective_ttl_ms"`
	Versions    map[string]string `json:"versions"`
	model.Result
}

// NewResults joins a judgement and its plan. Lists that hold nothing become empty lists: a program that reads the file
// need not know that Go can also say null.
func NewResults(j Judgement, now time.Time) Results {
	r := Results{
		Version:     history.FormatVersion,
		Run:         j.Plan.Run,
		CheckedAt:   now.UTC().Format(time.RFC3339),
		Backend:     j.Plan.Backend,
		LockClient:  j.Plan.LockClient,
		Workload:    j.Plan.Workload,
		Resource:    j.Plan.ResourceKind().Name,
		Execution:   j.Plan.Execution,
		Nemesis:     j.Plan.Nemesis,
		PlanFile:    j.Plan.PlanFile,
		Guard:       j.Plan.Guard,
		Provider:    j.Plan.Provider,
		Seed:        j.Plan.Seed,
		TTLMS:       j.Plan.TTLMS,
		EffectiveMS: j.Plan.EffectiveMS,
		Versions:    j.Plan.Versions,
		Result:      *j.Result,
	}
	if j.Plan.UnderTest != nil {
		r.Compares = history.ComparisonNames[j.Plan.ComparesBesideKeys()]
	}
	if r.Versions == nil {
		r.Versions = map[string]string{}
	}
	r.Properties = slices.Clone(r.Properties)
	for i := range r.Properties {
		p := &r.Properties[i]
		p.Findings = listed(slices.Clone(p.Findings))
		for k := range p.Findings {
			f := &p.Findings[k]
			f.Story, f.Holds, f.Events = listed(f.Story), listed(f.Holds), listed(f.Events)
		}
	}
	r.Properties, r.Exposure, r.Judged = listed(r.Properties), listed(r.Exposure), listed(r.Judged)
	if r.Stats.Latency == nil {
		r.Stats.Latency = map[string]model.Quantiles{}
	}
	return r
}

func listed[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// Encode writes the results as results.json holds them.
func (r Results) Encode(w io.Writer) error { return EncodeIndented(w, r) }

// WriteResults replaces results.json.
func (d *Dir) WriteResults(j Judgement, now time.Time) error {
	err := WriteAtomically(d.file(ResultsFile), NewResults(j, now).Encode)
	if err != nil {
		return fmt.Errorf("cannot write the results: %w", err)
	}
	return nil
}
