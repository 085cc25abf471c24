package words

import (
	"cmp"
	"slices"

	"lockcheck/checker"
	"lockcheck/checker/history"
	"lockcheck/checker/model"
)

// LayerMeaning says what a violation of a property of a layer means, or what such a property is about.
func LayerMeaning(layer model.Layer) string { return layerMeanings[layer] }

var layerMeanings = map[model.Layer]string{
	model.LayerBelief:  "What clients believe. Unavoidable for leases whose holder can be paused: the reason why fencing exists.",
	model.LayerService: "What the lock promised. A violation says that the promise was not kept; the service, its settings or a lock client may be to blame.",
	model.LayerHarm:    "What became of the data and the jobs. A violation is harm done.",
}

// Counted is how many violations of a property there are: "4 stale writes accepted".
func Counted(p *model.Property) string {
	about := checker.Describe(p.Name)
	return history.Counted(p.Count, about.One, about.Many)
}

// Masked are such as "2 incidents masked by fencing (14 overlaps of two holders)".
func Masked(plan history.Plan, p *model.Property) string {
	by := " masked by " + plan.Means()
	if p.Name == model.DoubleExecution { // whatever else the resource compares
		by = " masked by " + history.IdempotencyKeys
	}
	if p.Incidents == 0 {
		return Counted(p) + by
	}
	return Incidents(p.Incidents) + by + " (" + Counted(p) + ")"
}

// Headline is the violated property that a reader has to hear of first; nil if there is none.
func Headline(r *model.Result) *model.Property {
	if all := InHarmsOrder(r); len(all) > 0 && all[0].Verdict == model.Violation {
		return all[0]
	}
	return nil
}

// ByHarm orders names of properties by the harm that a violation is, the most harmful first.
func ByHarm(a, b model.Name) int {
	return cmp.Compare(checker.Describe(a).Harm, checker.Describe(b).Harm)
}

// InHarmsOrder are the properties as a reader has to hear of them: what is violated first, then by harm.
func InHarmsOrder(r *model.Result) []*model.Property {
	verdicts := []model.Verdict{model.Violation, model.Inconclusive, model.Masked, model.Pass, model.NotApplicable}
	all := make([]*model.Property, len(r.Properties))
	for i := range r.Properties {
		all[i] = &r.Properties[i]
	}
	slices.SortStableFunc(all, func(a, b *model.Property) int {
		return cmp.Or(cmp.Compare(slices.Index(verdicts, a.Verdict), slices.Index(verdicts, b.Verdict)), ByHarm(a.Name, b.Name))
	})
	return all
}
