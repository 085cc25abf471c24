package words

import (
	"cmp"
	"strconv"
	"strings"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
)

// People count incidents: one pause makes dozens of findings, which one superseded hold, or one lost grant, led to. So
// incidents come first wherever something is counted, with the findings behind them. How many there are is the checker's
// count: of findings a result holds the first only.

// Found says how many incidents there were, with the findings behind them, such as "2 incidents, 74 findings". Results of an older lockcheck do not count incidents.
func Found(incidents, findings int64) string {
	switch {
	case findings == 0:
		return Incidents(0)
	case incidents == 0:
		return history.Counted(findings, "finding", "findings")
	}
	return Incidents(incidents) + ", " + history.Counted(findings, "finding", "findings")
}

// Incidents is a number of incidents: "2 incidents".
func Incidents(n int64) string { return history.Counted(n, "incident", "incidents") }

// FoundOf counts the incidents and findings of a property; "" if it has none.
func FoundOf(p *model.Property) string {
	if p.Count == 0 {
		return ""
	}
	return Found(p.Incidents, p.Count)
}

// IncidentsOf is how many incidents the properties of a verdict have, those counted twice that two properties share unless
// they are violated.
func IncidentsOf(r *model.Result, verdict model.Verdict) (n int64) {
	if verdict == model.Violation {
		return r.Incidents
	}
	for _, p := range r.Properties {
		if p.Verdict == verdict {
			n += p.Incidents
		}
	}
	return n
}

// IncidentsUntold is how many incidents have no finding among those that are kept with their stories.
func IncidentsUntold(r *model.Result) (n int64) {
	violated := map[string]bool{}
	for _, p := range r.Properties {
		of := violated
		if p.Verdict != model.Violation {
			of = map[string]bool{}
		}
		for _, f := range p.Findings {
			of[f.Incident] = true
		}
		if p.Verdict != model.Violation {
			n += max(p.Incidents-int64(len(of)), 0)
		}
	}
	return n + max(r.Incidents-int64(len(violated)), 0)
}

// Percent writes a share from 0 to 1: "98.5 %".
func Percent(share float64) string { return strconv.FormatFloat(100*share, 'f', 1, 64) + " %" }

// Milliseconds is a length of time, as a plan has it, in the unit that people would choose.
func Milliseconds(ms int64) string { return history.Duration(ms * 1e6) }

// Exposure says what was counted of what a run was exposed to, without the count where the text begins with it.
func Exposure(e model.Exposure) string {
	words := cmp.Or(e.Text, e.Name)
	return strings.TrimPrefix(strings.TrimPrefix(words, history.Grouped(e.Count)+" "), strconv.FormatInt(e.Count, 10)+" ")
}

// Guarding is what held writes back before they were sent.
func Guarding(s model.Stats) string {
	if s.Unanswered == 0 {
		return "the client's own look at its lock"
	}
	return "the client's guard" + Unanswered(s)
}

// Unanswered is how many of the writes that were held back say nothing of the lock: the service did not answer. It is "" for none.
func Unanswered(s model.Stats) string {
	if s.Unanswered == 0 {
		return ""
	}
	return " (" + history.Grouped(s.Unanswered) + " of them because the service did not answer)"
}
