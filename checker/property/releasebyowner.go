package property

import "lockcheck/checker/model"

// ReleaseByOwner is rule J5 where it is proven that the release or the take-over of another hold removed the grant.
// That is decided in model/recordremoval.go, the loss itself in model/earlyloss.go; earlyexpiry.go words the finding.
func (j *Judge) ReleaseByOwner() Outcome {
	o := j.earlyLossOutcome(func(p *model.EarlyLoss) bool { return p.ByAnother() })
	switch {
	case o.NotApplicable != "" || len(o.Violations) > 0:
	case j.m.Plan.Release == "":
		o.NotApplicable = `not declared: the lock client does not say whether a release looks whose record it deletes; declare "release":"checked" or "release":"unchecked" when it is ready`
	case j.m.LostReleases() == 0:
		o.Untested = "no hold that was lost was released, so what such a release removes was not tested"
	}
	return o
}

// ReleasesTested says what a pass lacks: a release removes another's record only where its own is lost. It is required where faults are
// meant to make losses: a run without any has none, and passes with a word about it (rule J9).
func (j *Judge) ReleasesTested() string {
	if !j.m.Plan.LosesHolds() || j.m.LostReleases() > 0 {
		return ""
	}
	return "no hold that was lost was released, so what such a release removes was not tested"
}
