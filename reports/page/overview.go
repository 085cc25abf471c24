package page

import (
	"strings"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
	"lockcheck/reports/words"
)

// overview says how many incidents and findings there are in all, and how many of those have their stories on the page.
type overview struct {
	All, Here int64
	Found     string   // "4 incidents, 178 findings" of the properties that are violated; "" if none is
	ByName    string   // "4 stale writes accepted, 87 overlaps of two holders"
	Others    []string // of each property that has findings and is not violated, such as one that is masked
}

func newOverview(plan history.Plan, r *model.Result) overview {
	var o overview
	var names []string
	for _, p := range words.InHarmsOrder(r) {
		o.All += max(p.Count, int64(len(p.Findings)))
		o.Here += int64(len(p.Findings))
		switch {
		case p.Count == 0:
		case p.Verdict == model.Violation:
			names = append(names, words.Counted(p))
		case p.Verdict == model.Masked:
			o.Others = append(o.Others, words.Masked(plan, p))
		default:
			o.Others = append(o.Others, words.FoundOf(p)+" of "+string(p.Name)+", which is "+string(p.Verdict))
		}
	}
	if o.ByName = strings.Join(names, ", "); o.ByName != "" {
		o.Found = words.Found(r.Incidents, r.Violations())
	}
	return o
}
