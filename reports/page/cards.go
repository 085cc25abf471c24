package page

import (
	"cmp"

	"lockcheck/checker"
	"lockcheck/checker/model"
	"lockcheck/reports/words"
)

// card shows one property: its verdict, why, and what it means.
type card struct {
	model.Property
	Face         words.Face
	Found        string // "2 incidents, 57 findings"; "" for none
	Meaning      string
	LayerMeaning string
	Why          string
	First        string // the id of its first finding
	FirstNS      int64
}

func cards(r *model.Result) (all []card) {
	for i := range r.Properties {
		all = append(all, newCard(&r.Properties[i]))
	}
	return all
}

func newCard(p *model.Property) card {
	c := card{Property: *p, Face: words.FaceOf(p.Verdict), Found: words.FoundOf(p), Meaning: checker.Describe(p.Name).Meaning, LayerMeaning: words.LayerMeaning(p.Layer),
		Why: p.Reason, First: firstFinding(p)}
	if c.First != "" {
		c.FirstNS = p.Findings[0].AtNS
		c.Why = cmp.Or(c.Why, p.Findings[0].Summary)
	}
	return c
}
