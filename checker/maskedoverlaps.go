package checker

import (
	"fmt"
	"slices"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
	"lockcheck/checker/property"
)

// masking is how one way to compare keeps what overlapping holders do from the data (J10).
type masking struct {
	needs []model.Name // have to pass on the key, and so has DoubleExecution where the run had jobs
	// untested says that the resource had too little to compare; so many clients', on that key.
	untested string
	means    string // it was masked
	open     string // it may turn out to be
}

// maskings are those that there are.
var maskings = map[history.Comparison]*masking{
	history.CompareTokens: {
		needs:    []model.Name{model.StaleWrite, model.TokenMonotonicity, model.LostUpdate, model.ResourceLinearizability},
		untested: "not masked: the resource handled requests with the tokens of %s on %s, so fencing had nothing to compare",
		means:    "clients believed in one lock at the same time, and the fencing tokens let nothing stale through",
		open:     "clients believed in one lock at the same time; whether fencing masked it is known at the end of the run",
	},
	history.CompareBases: {
		needs:    []model.Name{model.LostUpdate, model.ResourceLinearizability},
		untested: "not masked: the resource handled writes of %s on %s, so compare-and-set had nothing to decide between",
		means:    "clients believed in one lock at the same time, and compare-and-set let no update be lost",
		open:     "clients believed in one lock at the same time; whether compare-and-set masked it is known at the end of the run",
	},
	history.CompareKeys: {
		needs:    []model.Name{model.LostUpdate, model.ResourceLinearizability},
		untested: "not masked: the resource handled records of %s on %s, so idempotency keys had nothing to tell apart",
		means:    "clients believed in one lock at the same time, and idempotency keys let no job be run twice",
		open:     "clients believed in one lock at the same time; whether idempotency keys masked it is known at the end of the run",
	},
}

// masking is what may mask overlaps in this run; nil if nothing can.
func (j *judgement) masking() *masking {
	by := j.m.Plan.Compares()
	if by == history.CompareTokens && !j.m.Ordered() {
		return nil
	}
	return maskings[by]
}

func (j *judgement) maskingNeeds(by *masking) []model.Name {
	if j.m.Plan.Jobs() {
		return append(slices.Clone(by.needs), model.DoubleExecution)
	}
	return by.needs
}

// masked is J10: belief overlaps on a key are no harm if what the resource compares kept it from the data on that key, and it had
// something to compare there: requests of two clients at least.
func (j *judgement) masked(violations []property.Violation) (model.Verdict, string) {
	by := j.masking()
	if by == nil {
		return model.Violation, ""
	}
	if j.m.Plan.Excerpt != nil {
		return model.Violation, "not masked in the run that this is an excerpt of"
	}
	overlapped := keysOf(violations)
	for _, k := range j.m.Locks {
		if overlapped[k.Name] && !k.Compared.Several() {
			return model.Violation, fmt.Sprintf(by.untested, history.Counted(k.Compared.Count(), "client", "clients"), k.Name)
		}
		if overlapped[k.Name] && by == maskings[history.CompareTokens] && !j.m.TokensProve(k) {
			return model.Violation, fmt.Sprintf("not masked: the tokens of %s prove no order", k.Name)
		}
	}
	for _, name := range j.maskingNeeds(by) {
		o := j.outcome(name)
		if o.Inconclusive != "" || o.NotApplicable != "" {
			return model.Violation, fmt.Sprintf("not masked: %s did not pass", name)
		}
		for _, h := range harms(o) {
			if overlapped[h.Key] {
				return model.Violation, fmt.Sprintf("not masked: %s is violated on %s", name, h.Key)
			}
		}
	}
	if j.m.Plan.Keyed() && by != maskings[history.CompareKeys] {
		return model.Masked, by.means + ", as did idempotency keys with records that came second"
	}
	return model.Masked, by.means
}

// maskedUnfinished is J10 of a recording that goes on. As long as nothing is violated that masking needs, it may still turn out to
// have masked an overlap.
func (j *judgement) maskedUnfinished(violations []property.Violation) (model.Verdict, string) {
	verdict, why := j.masked(violations)
	by := j.masking()
	if !j.m.GoesOn || verdict != model.Violation || by == nil {
		return verdict, why
	}
	overlapped := keysOf(violations)
	for _, name := range j.maskingNeeds(by) {
		if slices.ContainsFunc(harms(j.outcome(name)), func(h property.Violation) bool { return overlapped[h.Key] }) {
			return verdict, why
		}
	}
	return model.Inconclusive, by.open
}

// harms are the violations that were not masked.
func harms(o *property.Outcome) []property.Violation {
	if o.Masked != "" {
		return nil
	}
	return o.Violations
}

func keysOf(violations []property.Violation) map[string]bool {
	keys := map[string]bool{}
	for _, h := range violations {
		keys[h.Key] = true
	}
	return keys
}
