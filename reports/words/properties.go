package words

import (
	"cmp"
	"slices"

	"lockcheck/checker"
	"lockcheck/checker/history"
)

// LayerMeaning says what a violation of a property of a layer means, or what such a property is about.
func LayerMeaning(layer checker.Layer) string { return layerMeanings[layer] }

var layerMeanings = map[checker.Layer]string{
	checker.LayerBelief:   "What clients believe. Unavoidable for leases whose holder can be paused: the reason why fencing exists.",
	checker.LayerService:  "What the lock promised. A violation says that the promise was not kept; the service, its settings or a lock client may be to blame.",
	checker.LayerFencing:  "Whether a stale holder is kept away from the data.",
	checker.LayerEffect:   "What became of the data. A violation is harm done.",
	checker.LayerLiveness: "Whether the lock is available again afterwards.",
}

// Counted is how many violations of a property there are: "4 stale writes accepted".
func Counted(p *checker.Property) string {
	about := checker.Describe(p.Name)
	return history.Counted(p.Count, about.One, about.Many)
}

// Masked are such as "2 incidents masked by fencing (14 overlaps of two holders)".
func Masked(plan history.Plan, p *checker.Property) string {
	by := " masked by " + plan.Means()
	if p.Name == checker.DoubleExecution { // whatever else the resource compares
		by = " masked by " + history.IdempotencyKeys
	}
	if p.Incidents == 0 {
		return Counted(p) + by
	}
	return Incidents(p.Incidents) + by + " (" + Counted(p) + ")"
}

// Headline is the violated property that a reader has to hear of first; nil if there is none.
func Headline(r *checker.Result) *checker.Property {
	if all := InHarmsOrder(r); len(all) > 0 && all[0].Verdict == checker.Violation {
		return all[0]
	}
	return nil
}

// ByHarm orders names of properties by the harm that a violation is, the most harmful first.
func ByHarm(a, b checker.Name) int {
	return cmp.Compare(checker.Describe(a).Harm, checker.Describe(b).Harm)
}

// InHarmsOrder are the properties as a reader has to hear of them: what is violated first, then by harm.
func InHarmsOrder(r *checker.Result) []*checker.Property {
	verdicts := []checker.Verdict{checker.Violation, checker.Inconclusive, checker.Masked, checker.Pass, checker.NotApplicable}
	all := make([]*checker.Property, len(r.Properties))
	for i := range r.Properties {
		all[i] = &r.Properties[i]
	}
	slices.SortStableFunc(all, func(a, b *checker.Property) int {
		return cmp.Or(cmp.Compare(slices.Index(verdicts, a.Verdict), slices.Index(verdicts, b.Verdict)), ByHarm(a.Name, b.Name))
	})
	return all
}
