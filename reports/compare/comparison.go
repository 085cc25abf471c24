package compare

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
	"lockcheck/reports/rundir"
	"lockcheck/reports/words"
)

// Exit codes of a comparison, in the order in which they win. Those of runs that could not be made are passed on.
const (
	exitPass         = 0
	exitViolation    = 1 // nothing was expected, and something was violated
	exitInconclusive = 2
	exitUnmet        = 3 // an expectation was not met
	exitUsage        = 64
	exitUnavailable  = 69
	exitDefect       = 70
	exitInterrupted  = 130
)

// Outcome is what became of a cell.
type Outcome string

// The outcomes. Without an expectation a cell is as good as its verdict: met for a pass, unmet for a violation.
const (
	Met     Outcome = "met"
	Unmet   Outcome = "unmet"
	Unclear Outcome = "inconclusive"
	Failed  Outcome = "error"   // a run could not be made
	NotRun  Outcome = "not-run" // the comparison ended before
)

// Result is one cell with its runs.
type Result struct {
	Cell
	Verdict model.Verdict `json:"verdict"` // the worst of the runs
	Outcome Outcome       `json:"outcome"`
	// Incidents is how many incidents the violations of all runs led back to, and Count how many findings there were;
	// MaskedIncidents and Masked are the same of overlaps that did no harm.
	Incidents       int64 `json:"incidents"`
	Count           int64 `json:"count"`
	MaskedIncidents int64 `json:"masked_incidents"`
	Masked          int64 `json:"masked"`
	// Headline is the most harmful property that is violated, "" if there is none, and FirstNS how soon its first finding
	// came in the run that showed it soonest.
	Headline model.Name `json:"headline"`
	FirstNS  *int64     `json:"first_ns"`
	// Violated of Conclusive runs showed a violation, with the 95 % interval of that share. Made are all runs, those that could not tell included, and
	// Planned the most that all shards make.
	Violated   int     `json:"runs_violated"`
	Conclusive int     `json:"runs_conclusive"`
	Made       int     `json:"runs_made"`
	Planned    int     `json:"runs_planned"`
	Share      float64 `json:"share"`
	ShareLow   float64 `json:"share_low"`
	ShareHigh  float64 `json:"share_high"`
	// Rates are of the properties of which a rate is expected.
	Rates []PropertyRate `json:"rates,omitempty"`
	// UntilKnown is the half width of intervals at which the cell ends, 0 for none.
	UntilKnown   float64 `json:"until_known,omitempty"`
	StoppedEarly bool    `json:"stopped_at_first_hit"` // the share of such a cell is biased upwards
	Ops          int64   `json:"ops"`
	Availability float64 `json:"availability"` // the mean over the runs
	// AttemptsPerGrant is the mean over the runs in which clients told of their requests, 0 if there is none; Overtakes are
	// those of all runs.
	AttemptsPerGrant float64 `json:"attempts_per_grant"`
	Overtakes        int64   `json:"overtakes"`
	// TakeOvers are those of all runs, TakeOverNS the mean of the runs' medians, each as often as it had take-overs, and
	// TakeOverMaxNS the longest. Losses are how often holders were told that their lock had passed to another.
	TakeOvers     int64            `json:"take_overs"`
	TakeOverNS    int64            `json:"take_over_ns"`
	TakeOverMaxNS int64            `json:"take_over_max_ns"`
	Losses        int64            `json:"losses"`
	Exposure      []model.Exposure `json:"exposure"` // added up over the runs
	Expectation   *Expectation     `json:"expectation,omitempty"`
	Problems      []Problem        `json:"problems"`
	// Stopped is the directory of a run that the end of the comparison ended, relative to compare.json; "" if there is none.
	Stopped string `json:"stopped,omitempty"`
	Runs    []Run  `json:"runs"`
}

// NewResult judges a cell by its runs. planned is how many there might have been.
func NewResult(cell Cell, expect *Expectation, runs []Run, planned int) Result {
	return Task{Cell: cell, Expect: expect, Repeat: planned}.result(runs)
}

// with judges the cell by other runs, or by the same as they are now. When runs were made decides whether they were stopped.
func (r Result) with(expect *Expectation, runs []Run) Result {
	t := r.task()
	t.Expect = expect
	again := t.result(runs)
	again.StoppedEarly, again.Stopped = r.StoppedEarly, r.Stopped
	return again
}

// task is as much of the cell's task as decides how its runs are judged.
func (r Result) task() Task {
	return Task{Cell: r.Cell, Expect: r.Expectation, Repeat: r.Planned, UntilKnown: r.UntilKnown}
}

// result is the task judged by its runs.
func (t Task) result(runs []Run) Result {
	r := Result{Cell: t.Cell, Expectation: t.Expect, Runs: runs, Planned: t.Repeat, UntilKnown: t.UntilKnown, Problems: []Problem{}, Exposure: []model.Exposure{}}
	if r.Runs == nil {
		r.Runs = []Run{}
	}
	for _, run := range runs {
		r.add(run)
	}
	if r.Made > 0 {
		r.Availability /= float64(r.Made)
	}
	r.headline()
	r.queueing()
	r.takeOver()
	r.rates()
	r.StoppedEarly = r.Made < t.Repeat && r.Made > 0 && t.waits() && t.Expect.hit(runs)
	r.Verdict = r.worst()
	r.judge()
	return r
}

func (r *Result) add(run Run) {
	if run.Error != "" {
		return
	}
	r.Made++
	findings, _ := run.of(model.Violation)
	masked, maskedIncidents := run.of(model.Masked)
	r.Incidents, r.Count = r.Incidents+run.Incidents, r.Count+findings
	r.MaskedIncidents, r.Masked = r.MaskedIncidents+maskedIncidents, r.Masked+masked
	r.Ops += run.Ops
	r.Availability += run.Availability
	if run.conclusive() {
		r.Conclusive++
	}
	if run.Verdict == model.Violation {
		r.Violated++
	}
	for _, e := range run.Exposure {
		r.expose(e)
	}
}

// expose adds what happened in a run to what happened in those before. Of clients that wrote it keeps the fewest: they are
// the same in every run.
func (r *Result) expose(e model.Exposure) {
	at := slices.IndexFunc(r.Exposure, func(x model.Exposure) bool { return x.Name == e.Name })
	switch {
	case at < 0:
		r.Exposure = append(r.Exposure, model.Exposure{Name: e.Name, Count: e.Count, Min: e.Min})
	case e.Name == history.ExposureWriters:
		r.Exposure[at].Count, r.Exposure[at].Min = min(r.Exposure[at].Count, e.Count), max(r.Exposure[at].Min, e.Min)
	default:
		r.Exposure[at].Count += e.Count
		r.Exposure[at].Min += e.Min
	}
}

// headline looks for the most harmful of what the runs are headed by, and how soon that came.
func (r *Result) headline() {
	for _, run := range r.Runs {
		name := run.headline()
		switch {
		case run.Error != "" || name == "":
		case r.Headline == "" || words.ByHarm(name, r.Headline) < 0:
			r.Headline, r.FirstNS = name, run.FirstNS
		case name == r.Headline && run.FirstNS != nil && (r.FirstNS == nil || *run.FirstNS < *r.FirstNS):
			r.FirstNS = run.FirstNS
		}
	}
}

// queueing adds up what the runs report about requests and queues.
func (r *Result) queueing() {
	counted := 0.0
	for _, run := range r.Runs {
		if run.Error == "" && run.AttemptsPerGrant > 0 {
			counted++
			r.AttemptsPerGrant += run.AttemptsPerGrant
			r.Overtakes += run.Overtakes
		}
	}
	if counted > 0 {
		r.AttemptsPerGrant /= counted
	}
}

// takeOver adds up how soon locks were taken over, and how often they were lost.
func (r *Result) takeOver() {
	var sum float64
	for _, run := range r.Runs {
		if run.Error != "" {
			continue
		}
		r.Losses += run.Losses
		r.TakeOvers += run.TakeOver.Count
		r.TakeOverMaxNS = max(r.TakeOverMaxNS, run.TakeOver.MaxNS)
		sum += float64(run.TakeOver.Count) * float64(run.TakeOver.P50NS)
	}
	if r.TakeOvers > 0 {
		r.TakeOverNS = int64(sum / float64(r.TakeOvers))
	}
}

// worst is a violation if there is one, and a pass only if every run passed.
func (r *Result) worst() model.Verdict {
	switch {
	case r.Violated > 0:
		return model.Violation
	case r.Made == 0, r.Made < len(r.Runs), r.Conclusive < r.Made:
		return model.Inconclusive
	}
	return model.Pass
}

func (r *Result) judge() {
	failed := slices.ContainsFunc(r.Runs, func(run Run) bool { return run.Error != "" })
	if r.Expectation != nil {
		r.Problems = append(r.Problems, r.Expectation.judge(r.Runs, r.task().looks())...)
	}
	r.Problems = append(r.Problems, r.unknown()...)
	unmet := slices.ContainsFunc(r.Problems, func(p Problem) bool { return p.Kind != Unknown })
	switch {
	case unmet, r.Expectation == nil && r.Verdict == model.Violation:
		r.Outcome = Unmet
	case failed:
		r.Outcome = Failed
	case r.Made == 0:
		r.Outcome = NotRun
	case len(r.Problems) > 0, r.Expectation == nil && r.Verdict != model.Pass:
		r.Outcome = Unclear
	default:
		r.Outcome = Met
	}
}

// settled reports whether an unmet cell stays unmet whatever its next runs show: what is missing may still come, and a rate may change.
func (r Result) settled() bool {
	return r.Expectation == nil || slices.ContainsFunc(r.Problems, func(p Problem) bool {
		return p.Kind == Unexpected && !slices.ContainsFunc(r.Rates, func(rate PropertyRate) bool { return rate.Property == p.Property })
	})
}

// Why is why the cell is not met, a sentence each.
func (r Result) Why() (why []string) {
	for _, p := range r.Problems {
		why = append(why, p.Text)
	}
	for _, run := range r.Runs {
		switch {
		case run.lost():
			why = append(why, fmt.Sprintf("the run with seed %d (exit %d): %s", run.Seed, run.ExitCode, run.Error))
		case run.Error != "":
			why = append(why, fmt.Sprintf("a run with seed %d could not be made (exit %d): %s", run.Seed, run.ExitCode, run.Error))
		case r.Expectation == nil && run.Verdict != model.Pass:
			why = append(why, run.Sentence)
		}
	}
	if r.Outcome == NotRun {
		why = append(why, "it was not run")
	}
	if r.Stopped != "" {
		why = append(why, "a run was stopped; what it recorded is in "+r.Stopped+" (lockcheck check --partial)")
	}
	return why
}

// representative is the run that a reader wants to see first: one that is violated, else one that could not tell, else the
// last.
func (r Result) representative() (Run, bool) {
	for _, verdict := range []model.Verdict{model.Violation, "", model.Inconclusive} {
		for _, run := range r.Runs {
			if run.Verdict == verdict {
				return run, true
			}
		}
	}
	if len(r.Runs) == 0 {
		return Run{}, false
	}
	return r.Runs[len(r.Runs)-1], true
}

// FormatVersion is the version of compare.json.
const FormatVersion = 1

// Comparison is compare.json. The names of its fields stay.
type Comparison struct {
	Version     int       `json:"version"`
	Lockcheck   string    `json:"lockcheck"` // its version
	StartedAt   time.Time `json:"started_at"`
	DurationNS  int64     `json:"duration_ns"`
	File        string    `json:"file,omitempty"` // of expectations
	Expecting   bool      `json:"expecting"`
	Seed        int64     `json:"seed"` // of each cell's first run; the next has the next
	Basis       Basis     `json:"basis"`
	Shard       Shard     `json:"shard"`
	Jobs        int       `json:"jobs,omitempty"` // cells run side by side; 0 if that was not kept
	Interrupted bool      `json:"interrupted,omitempty"`
	// PartInterrupted is said of a merged comparison: a part ended early, so that what has no violation is unknown.
	PartInterrupted bool `json:"part_interrupted,omitempty"`
	// MissingShards are the numbers of those that a merged comparison lacks.
	MissingShards []int `json:"missing_shards,omitempty"`

	ExitCode int      `json:"exit_code"`
	Matrix   []Cell   `json:"matrix"` // of all shards
	Cells    []Result `json:"cells"`
	// Changes are what the cells show that one version mended or broke.
	Changes []Change `json:"changes,omitempty"`
}

// Code is the exit code that the cells come to. A violation outranks all that could not be found out.
func (c *Comparison) Code() int {
	if c.Interrupted {
		return exitInterrupted
	}
	has := func(outcome Outcome) bool {
		return slices.ContainsFunc(c.Cells, func(r Result) bool { return r.Outcome == outcome })
	}
	switch {
	case has(Unmet) && c.Expecting:
		return exitUnmet
	case has(Unmet):
		return exitViolation
	case has(Failed):
		return c.worstError()
	case has(Unclear), has(NotRun), c.PartInterrupted:
		return exitInconclusive
	}
	return exitPass
}

// worstError is the exit code of runs that could not be made: a bug of lockcheck's before what is missing on the machine.
func (c *Comparison) worstError() int {
	code := 0
	for _, cell := range c.Cells {
		for _, run := range cell.Runs {
			if run.Error == "" {
				continue
			}
			switch run.ExitCode {
			case exitUnavailable, exitUsage:
				code = max(code, run.ExitCode)
			default:
				code = exitDefect
			}
		}
	}
	return code
}

// Finish settles what follows from the cells.
func (c *Comparison) Finish() {
	c.Version = FormatVersion
	c.ExitCode = c.Code()
	c.Changes = nil
	for _, b := range c.beside() {
		c.Changes = append(c.Changes, b.Changes()...)
	}
}

// Worst is the verdict that the page and the last line show: what was expected counts, not whether it was harm.
func (c *Comparison) Worst() model.Verdict {
	switch c.Code() {
	case exitPass:
		return model.Pass
	case exitViolation, exitUnmet:
		return model.Violation
	}
	return model.Inconclusive
}

// Sentence is the whole in one sentence.
func (c *Comparison) Sentence() string {
	count := map[Outcome]int64{}
	for _, cell := range c.Cells {
		count[cell.Outcome]++
	}
	text := history.Counted(int64(len(c.Cells)), "cell", "cells")
	outcome := map[Outcome]string{Met: "passed", Unmet: "violated", Unclear: "inconclusive", Failed: "could not be run", NotRun: "not run"}
	if c.Expecting {
		outcome[Met], outcome[Unmet] = "as expected", "not as expected"
	}
	for _, o := range []Outcome{Unmet, Failed, Unclear, NotRun, Met} {
		if count[o] > 0 {
			text += fmt.Sprintf(", %d %s", count[o], outcome[o])
		}
	}
	var incidents int64
	for _, cell := range c.Cells {
		incidents += cell.Incidents
	}
	if incidents > 0 {
		text += "; " + history.Counted(incidents, "incident", "incidents") + " in all"
	}
	switch {
	case c.Interrupted:
		text += "; interrupted"
	case c.PartInterrupted:
		text += "; a part of it was interrupted"
	}
	if n := len(c.MissingShards); n > 0 {
		text += "; missing: " + map[bool]string{true: "shard ", false: "shards "}[n == 1] + strings.Trim(fmt.Sprint(c.MissingShards), "[]")
	}
	return text
}

// Write writes compare.json.
func (c *Comparison) Write(w io.Writer) error { return rundir.EncodeIndented(w, c) }

// Read reads compare.json.
func Read(r io.Reader) (*Comparison, error) {
	var c Comparison
	if err := json.NewDecoder(r).Decode(&c); err != nil {
		return nil, err
	}
	if c.Version != FormatVersion {
		return nil, fmt.Errorf("it has version %d, this lockcheck reads version %d", c.Version, FormatVersion)
	}
	if c.Shard.Count < 1 || c.Shard.Index < 1 || c.Shard.Index > c.Shard.Count {
		return nil, fmt.Errorf("it is shard %v, which cannot be", c.Shard)
	}
	return &c, nil
}
