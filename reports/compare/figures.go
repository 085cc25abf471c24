package compare

import (
	"fmt"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
	"lockcheck/reports/words"
)

// leaseFigures are what a lease buys, and what it costs: a shorter one is taken over sooner after a crash, and is lost more easily.
var leaseFigures = []figure{
	{"take-over, median", func(r Result) string { return takeOverWords(r, r.TakeOverNS) }},
	{"take-over, longest", func(r Result) string { return takeOverWords(r, r.TakeOverMaxNS) }},
	{"holds lost", func(r Result) string { return history.Grouped(r.Losses) }},
	incidentsFigure,
	availableFigure,
}

// leasesNote explains them.
const leasesNote = "take-over: how long after a holder's death, or a fault that hit it, another was granted its lock; of several runs its median is the mean of theirs; " +
	"holds lost: how often a holder was told that its lock had passed to another; faults that are meant in TTLs are shorter with a shorter lease, so that a run has more of them"

// takeOverWords are such as "1.21 s (of 7)".
func takeOverWords(r Result, ns int64) string {
	if r.TakeOvers == 0 {
		return "none"
	}
	return fmt.Sprintf("%s (of %d)", history.Duration(ns), r.TakeOvers)
}

var (
	incidentsFigure = figure{"incidents", func(r Result) string { return history.Grouped(r.Incidents) }}
	availableFigure = figure{"available", func(r Result) string { return words.Percent(r.Availability) }}
)

// resourceFigures are from what a resource keeps the data, and what that costs: requests that it rejects have to be made again.
var resourceFigures = []figure{
	{"stale writes", func(r Result) string { return propertyWords(r, model.StaleWrite) }},
	{"lost updates", func(r Result) string { return propertyWords(r, model.LostUpdate) }},
	{"incidents masked", func(r Result) string { return history.Grouped(r.MaskedIncidents) }},
	{"writes rejected", func(r Result) string { return history.Grouped(r.rejected()) }},
	incidentsFigure,
	{"operations", func(r Result) string { return history.Grouped(r.Ops) }},
	availableFigure,
}

// resourcesNote explains them.
const resourcesNote = "stale writes and lost updates: the findings of all runs (n/a: that resource compares something else, and decides itself which writes count); incidents masked: those in which two clients " +
	"held a lock at once and the resource kept that from the data; writes rejected: what that took"

// propertyWords is how many findings of a property the runs have, or why there is no such number: "12", "n/a", "0, unknown in 1 run".
func propertyWords(r Result, name model.Name) string {
	var found, unknown, judged int64
	for _, run := range r.Runs {
		switch p := run.property(name); {
		case run.Error != "":
		case p.Verdict == model.Inconclusive:
			unknown++
		case p.Verdict != "" && p.Verdict != model.NotApplicable:
			found, judged = found+p.Count, judged+1
		}
	}
	switch {
	case unknown > 0:
		return history.Grouped(found) + ", unknown in " + history.Counted(unknown, "run", "runs")
	case judged == 0:
		return string(model.NotApplicable)
	}
	return history.Grouped(found)
}

// rejected are the writes that the resource rejected in all runs.
func (r Result) rejected() (sum int64) {
	for _, run := range r.Runs {
		if run.Error == "" {
			sum += run.Rejected
		}
	}
	return sum
}
