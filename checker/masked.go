package checker

import (
	"fmt"
	"slices"

	"lockcheck/checker/history"
)

// masking is how one way to compare keeps what overlapping holders do from the data (J10).
type masking struct {
	needs []Name // have to pass on the key, and so has DoubleExecution where the run had jobs
	// untested says that the resource had too little to compare; so many clients', on that key.
	untested string
	means    string // it was masked
	open     string // it may turn out to be
}

// maskings are those that there are.
var maskings = map[history.Comparison]*masking{
	history.CompareTokens: {
		needs:    []Name{StaleWrite, TokenMonotonicity, LostUpdate, ResourceLinearizability},
		untested: "not masked: the resource handled requests with the tokens of %s on %s, so fencing had nothing to compare",
		means:    "clients believed in one lock at the same time, and the fencing tokens let nothing stale through",
		open:     "clients believed in one lock at the same time; whether fencing masked it is known at the end of the run",
	},
	history.CompareBases: {
		needs:    []Name{LostUpdate, ResourceLinearizability},
		untested: "not masked: the resource handled writes of %s on %s, so compare-and-set had nothing to decide between",
		means:    "clients believed in one lock at the same time, and compare-and-set let no update be lost",
		open:     "clients believed in one lock at the same time; whether compare-and-set masked it is known at the end of the run",
	},
	history.CompareKeys: {
		needs:    []Name{LostUpdate, ResourceLinearizability},
		untested: "not masked: the resource handled records of %s on %s, so idempotency keys had nothing to tell apart",
		means:    "clients believed in one lock at the same time, and idempotency keys let no job be run twice",
		open:     "clients believed in one lock at the same time; whether idempotency keys masked it is known at the end of the run",
	},
}

// masking is what may mask overlaps in this run; nil if nothing can.
func (j *judge) masking() *masking {
	by := j.m.Plan.Compares()
	if by == history.CompareTokens && !j.ordered() {
		return nil
	}
	return maskings[by]
}

func (j *judge) maskingNeeds(by *masking) []Name {
	if j.m.Plan.Jobs() {
		return append(slices.Clone(by.needs), DoubleExecution)
	}
	return by.needs
}

// masked is J10: belief overlaps on a key are no harm if what the resource compares kept it from the data on that key, and it had
// something to compare there: requests of two clients at least.
func (j *judge) masked(hits []hit) (Verdict, string) {
	by := j.masking()
	if by == nil {
		return Violation, ""
	}
	if j.m.Plan.Excerpt != nil {
		return Violation, "not masked in the run that this is an excerpt of"
	}
	overlapped := keysOf(hits)
	for _, k := range j.keys {
		if overlapped[k.name] && !k.compared.several() {
			return Violation, fmt.Sprintf(by.untested, history.Counted(k.compared.count(), "client", "clients"), k.name)
		}
		if overlapped[k.name] && by == maskings[history.CompareTokens] && !j.tokensProve(k) {
			return Violation, fmt.Sprintf("not masked: the tokens of %s prove no order", k.name)
		}
	}
	for _, name := range j.maskingNeeds(by) {
		o := j.outcome(name)
		if o.inconclusive != "" || o.notApplicable != "" {
			return Violation, fmt.Sprintf("not masked: %s did not pass", name)
		}
		for _, h := range o.harms() {
			if overlapped[h.key] {
				return Violation, fmt.Sprintf("not masked: %s is violated on %s", name, h.key)
			}
		}
	}
	if j.m.Plan.Keyed() && by != maskings[history.CompareKeys] {
		return Masked, by.means + ", as did idempotency keys with records that came second"
	}
	return Masked, by.means
}

// maskedSoFar is J10 of a recording that goes on. As long as nothing is violated that masking needs, it may still turn out to
// have masked an overlap.
func (j *judge) maskedSoFar(hits []hit) (Verdict, string) {
	verdict, why := j.masked(hits)
	by := j.masking()
	if j.soFar == nil || verdict != Violation || by == nil {
		return verdict, why
	}
	overlapped := keysOf(hits)
	for _, name := range j.maskingNeeds(by) {
		if slices.ContainsFunc(j.outcome(name).harms(), func(h hit) bool { return overlapped[h.key] }) {
			return verdict, why
		}
	}
	return Inconclusive, by.open
}

// harms are the hits that were not masked.
func (o *outcome) harms() []hit {
	if o.masked != "" {
		return nil
	}
	return o.hits
}

func keysOf(hits []hit) map[string]bool {
	keys := map[string]bool{}
	for _, h := range hits {
		keys[h.key] = true
	}
	return keys
}
