package compare

import (
	"fmt"
	"slices"
	"strings"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
	"lockcheck/reports/rate"
)

// PropertyRate is in how many of the runs that could tell a property was violated, held against the rate that is expected.
type PropertyRate struct {
	Property   model.Name  `json:"property"`
	Violated   int         `json:"runs_violated"`
	Conclusive int         `json:"runs_conclusive"`
	Share      float64     `json:"share"`
	ShareLow   float64     `json:"share_low"`
	ShareHigh  float64     `json:"share_high"`
	Expected   rate.Bound  `json:"expected"`
	Answer     rate.Answer `json:"answer"`
	// RunsToDecide is about how many runs that can tell would decide it, all included, if the share stays; 0 for more than can be made, and if none could tell.
	RunsToDecide int `json:"runs_to_decide,omitempty"`
}

// rates settles the shares of a cell.
func (r *Result) rates() {
	all := r.violatedRate()
	r.Share = all.Share()
	r.ShareLow, r.ShareHigh = all.Interval()
	for _, w := range r.Expectation.rates() {
		of := w.rateOf(r.Runs, r.task().looks())
		p := PropertyRate{Property: w.Property, Violated: of.Hits, Conclusive: of.Runs, Share: of.Share(), Expected: *w.Rate, Answer: w.Rate.Judge(of)}
		p.ShareLow, p.ShareHigh = of.Interval()
		if p.Answer == rate.Undecided {
			p.RunsToDecide = w.Rate.RunsToDecide(of)
		}
		r.Rates = append(r.Rates, p)
	}
}

func (r Result) violatedRate() rate.Rate {
	return rate.Rate{Hits: r.Violated, Runs: r.Conclusive, Looks: r.task().looks()}
}

// allRates are all that are shown of a cell.
func (r Result) allRates() []rate.Rate {
	all := []rate.Rate{r.violatedRate()}
	for _, p := range r.Rates {
		all = append(all, rate.Rate{Hits: p.Violated, Runs: p.Conclusive, Looks: r.task().looks()})
	}
	return all
}

// unknown says which rates all runs left less known than was asked for.
func (r Result) unknown() (problems []Problem) {
	if r.UntilKnown == 0 || len(r.Runs) < r.Planned {
		return nil
	}
	for i, of := range r.allRates() {
		if of.HalfWidth() <= r.UntilKnown {
			continue
		}
		what := "violated runs"
		p := Problem{Kind: Unknown}
		if i > 0 {
			p.Property = r.Rates[i-1].Property
			what = "runs with " + string(p.Property) + " violated"
		}
		p.Text = fmt.Sprintf("%s: %s, which is undecided after all %s: not known to within %s%s", what, of, history.Counted(int64(r.Planned), "run", "runs"),
			rate.Percent(r.UntilKnown), enough(of, of.RunsToKnow(r.UntilKnown)))
		problems = append(problems, p)
	}
	return problems
}

// enough says how many runs would be, at the share that was seen; nothing if none was.
func enough(of rate.Rate, runs int) string {
	switch {
	case of.Runs == 0:
		return ""
	case runs == 0:
		return "; at this share no number of runs that can be made is enough"
	}
	return "; about " + history.Counted(int64(runs), "run that can tell", "runs that can tell") + " would be enough at this share"
}

// rates are those of the expectation.
func (e *Expectation) rates() (all []Wanted) {
	if e == nil {
		return nil
	}
	for _, w := range e.Expect {
		if w.Rate != nil {
			all = append(all, w)
		}
	}
	return all
}

// onlyRatesUnknown reports whether nothing else made a run inconclusive than properties of which a rate is expected. The rate leaves such a run out;
// whatever else is expected of the run is known. The run's reason has to name all of it: what is clipped may hide more.
func (e *Expectation) onlyRatesUnknown(run Run) bool {
	var reasons []string
	for _, p := range run.Properties {
		if p.Verdict == model.Inconclusive && slices.ContainsFunc(e.rates(), func(w Wanted) bool { return w.Property == p.Name }) {
			reasons = append(reasons, fmt.Sprintf("%s: %s", p.Name, p.Why))
		}
	}
	return len(reasons) > 0 && run.Reason == strings.Join(reasons, "; ")
}

// rateOf is in how many runs the property was violated, of those that could tell.
func (w Wanted) rateOf(runs []Run, looks int) rate.Rate {
	r := rate.Rate{Looks: looks}
	for _, run := range runs {
		verdict := run.property(w.Property).Verdict
		if !run.conclusive() || verdict == "" || verdict == model.Inconclusive || verdict == model.NotApplicable {
			continue
		}
		r.Runs++
		if verdict == model.Violation {
			r.Hits++
		}
	}
	return r
}

// judgeRate holds the runs against the expected rate; the kind is "" if it is met.
func (w Wanted) judgeRate(of rate.Rate) (ProblemKind, string) {
	if of.Runs == 0 {
		return Unknown, fmt.Sprintf("%s: whether its %s is met is unknown: no run could tell", w.Property, w.words())
	}
	text := fmt.Sprintf("%s is violated in %s, expected %s", w.Property, of, w.words())
	switch w.Rate.Judge(of) {
	case rate.Met:
		return "", ""
	case rate.Undecided:
		return Unknown, text + "; undecided" + enough(of, w.Rate.RunsToDecide(of))
	}
	if w.Rate.AtLeast() {
		return Missing, text
	}
	return Unexpected, text
}
