package page

import (
	"slices"
	"strings"

	"lockcheck/checker/model"
	"lockcheck/reports/rundir"
	"lockcheck/reports/words"
)

// expected is how a run compares with what was expected of it before it was made. A comparison that makes several runs
// judges them together; this is only about the one.
type expected struct {
	Face     words.Face
	Sentence string
	Details  []string // one for each difference
	Reason   string
	From     string // where it is written
}

// heldAgainst holds a run against its plan's expectation. With none it is held against no violation at all.
func heldAgainst(j rundir.Judgement) expected {
	want := j.Plan.Expected
	if want == nil || j.Plan.Excerpt != nil {
		return expected{}
	}
	x := expected{Reason: want.Reason, From: want.From}
	unknown := j.Result.Verdict == model.Inconclusive
	for _, name := range sortedKeys(want.Verdicts) {
		verdicts := want.Verdicts[name]
		switch p := j.Result.Property(model.Name(name)); {
		case p == nil:
			x.Details = append(x.Details, name+" was not judged")
			unknown = true
		case p.Verdict == model.Inconclusive:
			x.Details = append(x.Details, name+" is inconclusive, expected "+strings.Join(verdicts, " or "))
			unknown = true
		case !slices.Contains(verdicts, string(p.Verdict)):
			x.Details = append(x.Details, name+" is "+string(p.Verdict)+", expected "+strings.Join(verdicts, " or "))
		}
	}
	differs := len(x.Details) > 0 && !unknown
	for _, p := range j.Result.Properties {
		if _, listed := want.Verdicts[string(p.Name)]; !listed && p.Verdict == model.Violation {
			x.Details = append(x.Details, string(p.Name)+" is violated, and not listed as expected")
			differs = true
		}
	}
	switch phrase := expectedWords(want.Verdicts); {
	case differs:
		x.Face, x.Sentence = words.FaceOf(model.Violation), "Not as expected. Expected was "+phrase+"."
	case unknown:
		x.Face, x.Sentence = words.FaceOf(model.Inconclusive), "Whether it is as expected is unknown. Expected was "+phrase+"."
	default:
		x.Face, x.Sentence = words.FaceOf(model.Pass), "As expected: "+phrase+"."
	}
	return x
}

func expectedWords(verdicts map[string][]string) string {
	if len(verdicts) == 0 {
		return "no violation"
	}
	var parts []string
	for _, name := range sortedKeys(verdicts) {
		parts = append(parts, name+" "+strings.Join(verdicts[name], " or "))
	}
	return strings.Join(parts, ", ") + "; nothing else violated"
}
