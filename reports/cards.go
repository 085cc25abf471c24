package reports

import "lockcheck/checker"

// card shows one property: its verdict, why, and what it means.
type card struct {
	checker.Property
	Face         face
	Meaning      string
	LayerMeaning string
	Why          string
	First        string // the id of its first finding
	FirstNS      int64
}

func cards(r *checker.Result) (all []card) {
	for i := range r.Properties {
		all = append(all, newCard(&r.Properties[i]))
	}
	return all
}

func newCard(p *checker.Property) card {
	c := card{Property: *p, Face: faceOf(p.Verdict), Meaning: wordings[p.Name].meaning, LayerMeaning: layerMeanings[p.Layer],
		Why: p.Reason, First: firstFinding(p)}
	if c.First != "" {
		c.FirstNS = p.Findings[0].AtNS
		c.Why = firstOf(c.Why, p.Findings[0].Summary)
	}
	return c
}
