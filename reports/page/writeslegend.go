package page

import "lockcheck/checker/history"

// writesLegend says what the signs of writes in the timeline mean, which depends on what the resource compares.
type writesLegend struct {
	Rejected string
	Mark     string // "" where no write has one
}

func newWritesLegend(p history.Plan, marked bool) writesLegend {
	rejected := map[history.Comparison]string{
		history.CompareBases: "write rejected: built on an old value",
	}
	marks := map[history.Comparison]string{
		history.CompareNothing: "highest token seen, which the resource does not compare",
		history.CompareTokens:  "highest token seen: what lies below it is stale",
		history.CompareBases:   "highest token seen, which the resource does not compare: it compares values",
		history.CompareKeys:    "highest token seen, which the resource does not compare: it looks for the slot",
	}
	legend := writesLegend{Rejected: "write rejected"}
	if words := rejected[p.Compares()]; words != "" {
		legend.Rejected = words
	}
	if marked {
		legend.Mark = marks[p.Compares()]
	}
	return legend
}
