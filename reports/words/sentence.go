// Package words is how things are said, on the terminal, on the pages and in comparisons alike: what a verdict looks like and the
// sentence that it is, what properties and faults are called and what would have prevented a violation, and how text of unknown
// origin is made harmless. Faults are called as history.WordsOf says, properties as checker.Describe does, and numbers and times
// are written by history.Counted, Grouped, Duration and Moment, as the checker writes them.
package words

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"lockcheck/checker"
	"lockcheck/checker/history"
)

// Sentence is the verdict in one sentence, such as
// "UNSAFE: etcd under pause: 4 incidents: 4 stale writes accepted, first at 12.431 s". Where not all properties were judged it
// names those that were: a pass of some is no pass.
func Sentence(plan history.Plan, r *checker.Result) string {
	sentence := sentence(plan, r)
	for _, words := range []string{Hang(plan, r), WithoutAnswer(r.Stats.WithoutAnswer)} {
		if words != "" {
			sentence += Plain("; " + words)
		}
	}
	if words := readingWords(r.OutcomeReading); words != "" {
		sentence += " (" + Plain(words) + ")"
	}
	return sentence
}

func sentence(plan history.Plan, r *checker.Result) string {
	what := subject(plan, r)
	what += Under(plan)
	switch r.Verdict {
	case checker.Violation:
		return Plain("UNSAFE: " + what + ": " + violationWords(r) + judgedWords(r))
	case checker.Inconclusive:
		return Plain("INCONCLUSIVE: " + what + ": " + cmp.Or(r.Reason, "what was to be tested did not happen") + judgedWords(r))
	case checker.Pass:
		return Plain("PASS" + passedWords(r) + ": " + what + ": " + passWords(plan, r))
	}
	return Plain(strings.ToUpper(string(r.Verdict)) + ": " + what + ": " + r.Reason)
}

// Under says what disturbed a run. A plan file can have other faults than the nemesis that it was drawn from.
func Under(plan history.Plan) string {
	switch {
	case plan.PlanFile != "":
		return " under the plan in " + Clip(plan.PlanFile, MaxName)
	case plan.Nemesis == history.NoNemesis || plan.Nemesis == "":
		return " without faults"
	}
	return " under " + plan.Nemesis
}

// ofResource are the properties that a resource under test which compares something breaks when it breaks its word, whatever the lock
// did. Of one that compares nothing only the first is its own: it owes late writes no rejection.
var ofResource = []checker.Name{
	checker.ResourceIntegrity, checker.StaleWrite, checker.LostUpdate, checker.ResourceLinearizability, checker.MutualExclusion, checker.DoubleExecution,
}

// subject is what a sentence is about: the lock service, and of a resource under test that broke its word that resource. Where its word
// was not judged, what late writes did may be the doing of either.
func subject(plan history.Plan, r *checker.Result) string {
	own := ofResource
	if plan.Compares() == history.CompareNothing {
		own = own[:1]
	}
	resource, lock, either := false, false, false
	for _, p := range r.Properties {
		if p.Verdict == checker.Violation {
			mayBeOfResource := slices.Contains(own, p.Name)
			resource = resource || p.Name == checker.ResourceIntegrity
			lock = lock || !mayBeOfResource
			either = either || mayBeOfResource && p.Name != checker.MutualExclusion
		}
	}
	unjudged := plan.UnderTest != nil && slices.Contains(r.NotJudged, checker.ResourceIntegrity)
	name := "resource " + Clip(string(plan.Resource), MaxName)
	switch {
	case resource && !lock:
		return name + " behind " + plan.Backend
	case resource, unjudged && either:
		return plan.Backend + " and " + name
	}
	return plan.Backend
}

func violationWords(r *checker.Result) string {
	p := Headline(r)
	if p == nil {
		return cmp.Or(r.Reason, "a property is violated")
	}
	words := Counted(p)
	if r.Incidents > 0 {
		words = Incidents(r.Incidents) + ": " + words
	}
	if len(p.Findings) > 0 {
		words += ", first at " + history.Moment(p.Findings[0].AtNS)
	}
	others := 0
	var service []string
	for _, q := range r.Properties {
		if q.Verdict != checker.Violation || q.Name == p.Name {
			continue
		}
		if q.Layer == checker.LayerService && p.Layer != checker.LayerService {
			service = append(service, Counted(&q))
			continue
		}
		others++
	}
	if len(service) > 0 {
		words += "; the lock did not keep its promise: " + strings.Join(service, ", ")
	}
	if others > 0 {
		words += "; " + history.Counted(int64(others), "other property", "other properties") + " violated"
	}
	return words
}

// judgedWords name the properties that were judged where others were not; "" where all were.
func judgedWords(r *checker.Result) string {
	if len(r.NotJudged) == 0 {
		return ""
	}
	return fmt.Sprintf(" (%s judged: %s)", share(len(r.Judged), r), names(r.Judged))
}

// passedWords name the properties that a pass is of where not all were judged; "" where it is of all. What does not apply
// to the run did not pass.
func passedWords(r *checker.Result) string {
	if len(r.NotJudged) == 0 {
		return ""
	}
	var passed, inapplicable []checker.Name
	for _, p := range r.Properties {
		if p.Verdict == checker.NotApplicable {
			inapplicable = append(inapplicable, p.Name)
		} else {
			passed = append(passed, p.Name)
		}
	}
	words := fmt.Sprintf(" of %s (%s", names(passed), share(len(passed), r))
	if len(inapplicable) > 0 {
		words += "; n/a: " + names(inapplicable)
	}
	return words + ")"
}

// share is how many of all properties some are.
func share(n int, r *checker.Result) string {
	return fmt.Sprintf("%d of %s", n, history.Counted(int64(len(r.Judged)+len(r.NotJudged)), "property", "properties"))
}

func names(list []checker.Name) string {
	words := make([]string, len(list))
	for i, name := range list {
		words[i] = string(name)
	}
	return strings.Join(words, ", ")
}

func passWords(plan history.Plan, r *checker.Result) string {
	words := "no violation in " + history.Counted(r.Stats.Ops, "operation", "operations")
	if len(r.NotJudged) > 0 {
		words = "none violated in " + history.Counted(r.Stats.Ops, "operation", "operations")
	}
	for _, p := range r.Properties {
		if p.Verdict == checker.Masked {
			words += "; " + Masked(plan, &p)
		}
	}
	if r.Stats.Rejected > 0 {
		words += "; " + Rejected(plan, r.Stats.Rejected) + " rejected"
	}
	if n := r.Stats.ClientDeaths; n > 0 {
		words += "; " + deathWords(n, false)
	}
	return words
}
