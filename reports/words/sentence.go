// Package words is how things are said, on the terminal, on the pages and in comparisons alike: what a verdict looks like and the
// sentence that it is, what properties and faults are called and what would have prevented a violation, and how text of unknown
// origin is made harmless. Faults are called as history.WordsOf says, properties as checker.Describe does, and numbers and times
// are written by history.Counted, Grouped, Duration and Moment, as the checker writes them.
package words

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"lockcheck/checker"
	"lockcheck/checker/history"
)

// Sentence is the verdict in one sentence, such as
// "UNSAFE under pause: 4 stale writes accepted (4 incidents), first at 12.431 s. etcd kept its promises; the resource checks no token".
// Where not all properties were judged it names those that were: a pass of some is no pass.
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
	what := plan.Backend + Under(plan)
	switch r.Verdict {
	case checker.Violation:
		return Plain("UNSAFE" + Under(plan) + ": " + violationWords(plan, r) + judgedWords(r) + partyWords(plan, r))
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

// violationWords count the violations of the most harmful property, and say how many others are violated.
func violationWords(plan history.Plan, r *checker.Result) string {
	p := Headline(r)
	if p == nil {
		return cmp.Or(r.Reason, "a property is violated")
	}
	words := Counted(p)
	if who := brokenOf(plan, p); who != "" {
		words = brokeWords(who, brokenBy(plan, r)[who])
	}
	if r.Incidents > 0 {
		words += " (" + Incidents(r.Incidents) + ")"
	}
	if len(p.Findings) > 0 {
		words += ", first at " + history.Moment(p.Findings[0].AtNS)
	}
	others := int64(0)
	for _, q := range r.Properties {
		if q.Verdict == checker.Violation && q.Name != p.Name && brokenOf(plan, &q) == "" {
			others++
		}
	}
	if others > 0 {
		words += "; " + history.Counted(others, "other property", "other properties") + " violated"
	}
	return words
}

// ofLock are the properties that a lock service and its client promise.
var ofLock = []checker.Name{checker.LockLinearizability, checker.EarlyExpiry, checker.ReleaseByOwner, checker.TokenMonotonicity, checker.Liveness}

// brokenOf is the party that broke the promise which a property is, as far as that is proven; "" for belief, and for harm that only the
// resource could have kept away. A release that removes the grant of another hold is the lock client's, and so is what follows from it.
// Who left a lock free while clients waited is not proven: the service, or a client that forgot its wake-up.
func brokenOf(plan history.Plan, p *checker.Property) string {
	client := "the lock client of " + plan.Backend
	either := plan.Backend + " or its lock client"
	switch {
	case p.Name == checker.ResourceIntegrity:
		return "resource " + Clip(string(plan.Resource), MaxName)
	case p.Name == checker.ReleaseByOwner:
		return client
	case p.Name == checker.Liveness:
		return either
	case slices.Contains(ofLock, p.Name):
		switch {
		case len(p.Findings) == 0, slices.ContainsFunc(p.Findings, func(f checker.Finding) bool { return !f.Cause.MayBeRelease() }):
			return plan.Backend
		case slices.ContainsFunc(p.Findings, func(f checker.Finding) bool { return !f.Cause.IsRelease() }):
			return either
		}
		return client
	}
	return ""
}

// partyWords say which party kept its promises: ". etcd kept its promises; the resource checks no token".
func partyWords(plan history.Plan, r *checker.Result) string {
	var parties []string
	if words := lockWords(plan, r); words != "" {
		parties = append(parties, words)
	}
	told := ""
	if p := Headline(r); p != nil {
		told = brokenOf(plan, p)
	}
	broken := brokenBy(plan, r)
	for _, who := range slices.Sorted(maps.Keys(broken)) {
		if who != told {
			parties = append(parties, brokeWords(who, broken[who]))
		}
	}
	if plan.Compares() == history.CompareNothing && harmed(r) {
		parties = append(parties, "the resource checks no token")
	}
	if len(parties) == 0 {
		return ""
	}
	return ". " + strings.Join(parties, "; ")
}

// brokenBy counts the broken promises of each party, the most harmful first.
func brokenBy(plan history.Plan, r *checker.Result) map[string][]string {
	broken := map[string][]string{}
	for _, p := range InHarmsOrder(r) {
		if who := brokenOf(plan, p); who != "" && p.Verdict == checker.Violation {
			broken[who] = append(broken[who], Counted(p))
		}
	}
	return broken
}

func brokeWords(who string, what []string) string {
	promise := " broke a promise: "
	if len(what) > 1 {
		promise = " broke promises: "
	}
	return who + promise + strings.Join(what, ", ")
}

// lockWords acquit the lock, but only where each promise that it can break was judged and kept. They are "" if one was broken, or only some
// properties were judged, which the sentence says anyway.
func lockWords(plan history.Plan, r *checker.Result) string {
	unjudged := ""
	for _, name := range ofLock {
		p := r.Property(name)
		always := name == checker.LockLinearizability || name == checker.EarlyExpiry // the others may not apply to a lock
		switch {
		case p == nil && (always || slices.Contains(r.NotJudged, name)), p != nil && p.Verdict == checker.Violation:
			return ""
		case p != nil && (p.Verdict == checker.Inconclusive || p.Verdict == checker.NotApplicable && always):
			unjudged = cmp.Or(unjudged, p.Reason, string(name))
		}
	}
	if unjudged != "" {
		return "it was not judged whether " + plan.Backend + " kept its promises: " + unjudged
	}
	return plan.Backend + " kept its promises"
}

// harmed reports whether a violation reached the data.
func harmed(r *checker.Result) bool {
	return slices.ContainsFunc(r.Properties, func(p checker.Property) bool {
		return p.Verdict == checker.Violation && (p.Name == checker.StaleWrite || p.Layer == checker.LayerEffect) && p.Name != checker.ResourceIntegrity && p.Name != checker.MissedExecution
	})
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
			words += "; " + Masked(plan, &p) + ", and no harm reached the resource"
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
