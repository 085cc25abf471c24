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
	"lockcheck/checker/model"
)

// Sentence is the verdict in one sentence, such as
// "UNSAFE under pause: 4 stale writes accepted (4 incidents), first at 12.431 s. etcd kept its promises; the resource checks no token".
// Where not all properties were judged it names those that were: a pass of some is no pass.
func Sentence(plan history.Plan, r *model.Result) string {
	sentence := sentence(plan, r)
	for _, words := range []string{Hang(r), WithoutAnswer(r.Stats.WithoutAnswer), OddClients(r.Stats.OddClients)} {
		if words != "" {
			sentence += Plain("; " + words)
		}
	}
	if words := readingWords(r.OutcomeReading); words != "" {
		sentence += " (" + Plain(words) + ")"
	}
	return sentence
}

func sentence(plan history.Plan, r *model.Result) string {
	what := service(plan) + Under(plan)
	switch r.Verdict {
	case model.Violation:
		return Plain("UNSAFE" + Under(plan) + ": " + violationWords(plan, r) + judgedWords(r) + partyWords(plan, r))
	case model.Inconclusive:
		return Plain("INCONCLUSIVE: " + what + ": " + cmp.Or(r.Reason, "the tested situation did not occur") + judgedWords(r))
	case model.Pass:
		return Plain("PASS" + passedWords(r) + ": " + what + ": " + passWords(plan, r))
	}
	return Plain(strings.ToUpper(string(r.Verdict)) + ": " + what + ": " + r.Reason)
}

// service names the lock service of a run: what clients spoke to. A pooler between them and the servers belongs to it, and may be why it failed.
func service(plan history.Plan) string {
	if mode := plan.Settings["pooler"]; mode != "" && mode != "none" {
		return plan.Backend + " behind a pooler"
	}
	return plan.Backend
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
func violationWords(plan history.Plan, r *model.Result) string {
	p := Headline(r)
	if p == nil {
		return cmp.Or(r.Reason, "a property is violated")
	}
	words := Counted(p)
	if who := Party(plan, p); who != "" {
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
		if q.Verdict == model.Violation && q.Name != p.Name && Party(plan, &q) == "" {
			others++
		}
	}
	if others > 0 {
		words += "; " + history.Counted(others, "other property", "other properties") + " violated"
	}
	return words
}

// Party is the party that broke the promise which a property is, as far as that is proven; "" for belief, and for harm that only the
// resource could have kept away. A release that removes the grant of another hold is the lock client's, and so is what follows from it.
// Who left a lock free while clients waited is not proven: the service, or a client that forgot its wake-up.
// Nor is whose the promise was that tokens grow: the client chose what it takes for one.
func Party(plan history.Plan, p *model.Property) string {
	client := "the lock client of " + service(plan)
	either := service(plan) + " or its lock client"
	switch {
	case p.Name == model.ResourceIntegrity:
		return "resource " + Clip(string(plan.Resource), MaxName)
	case p.Name == model.ReleaseByOwner:
		return client
	case p.Name == model.Liveness:
		return either
	case checker.Describe(p.Name).Layer == model.LayerService:
		switch {
		case len(p.Findings) > 0 && !slices.ContainsFunc(p.Findings, func(f model.Finding) bool { return !f.Cause.IsRelease() }):
			return client
		case p.Name == model.TokenMonotonicity, len(p.Findings) > 0 && !slices.ContainsFunc(p.Findings, func(f model.Finding) bool { return !f.Cause.MayBeRelease() }):
			return either
		}
		return service(plan)
	}
	return ""
}

// partyWords say which party kept its promises: ". etcd kept its promises; the resource checks no token".
func partyWords(plan history.Plan, r *model.Result) string {
	var parties []string
	if words := lockWords(plan, r); words != "" {
		parties = append(parties, words)
	}
	told := ""
	if p := Headline(r); p != nil {
		told = Party(plan, p)
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
func brokenBy(plan history.Plan, r *model.Result) map[string][]string {
	broken := map[string][]string{}
	for _, p := range InHarmsOrder(r) {
		if who := Party(plan, p); who != "" && p.Verdict == model.Violation {
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
func lockWords(plan history.Plan, r *model.Result) string {
	unjudged := ""
	for _, about := range checker.Properties() {
		if about.Layer != model.LayerService {
			continue
		}
		name, p := about.Name, r.Property(about.Name)
		always := name == model.LockLinearizability || name == model.EarlyExpiry // the others may not apply to a lock
		switch {
		case p == nil && (always || slices.Contains(r.NotJudged, name)), p != nil && p.Verdict == model.Violation:
			return ""
		case p != nil && (p.Verdict == model.Inconclusive || p.Verdict == model.NotApplicable && always):
			unjudged = cmp.Or(unjudged, p.Reason, string(name))
		}
	}
	if unjudged != "" {
		return "it was not judged whether " + service(plan) + " kept its promises: " + unjudged
	}
	return service(plan) + " kept its promises"
}

// harmed reports whether a violation reached the data.
func harmed(r *model.Result) bool {
	return slices.ContainsFunc(r.Properties, func(p model.Property) bool {
		return p.Verdict == model.Violation && p.Layer == model.LayerHarm && p.Name != model.ResourceIntegrity && p.Name != model.MissedExecution
	})
}

// judgedWords name the properties that were judged where others were not; "" where all were.
func judgedWords(r *model.Result) string {
	if len(r.NotJudged) == 0 {
		return ""
	}
	return fmt.Sprintf(" (%s judged: %s)", share(len(r.Judged), r), names(r.Judged))
}

// passedWords name the properties that a pass is of where not all were judged; "" where it is of all. What does not apply
// to the run did not pass.
func passedWords(r *model.Result) string {
	if len(r.NotJudged) == 0 {
		return ""
	}
	var passed, inapplicable []model.Name
	for _, p := range r.Properties {
		if p.Verdict == model.NotApplicable {
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
func share(n int, r *model.Result) string {
	return fmt.Sprintf("%d of %s", n, history.Counted(int64(len(r.Judged)+len(r.NotJudged)), "property", "properties"))
}

func names(list []model.Name) string {
	words := make([]string, len(list))
	for i, name := range list {
		words[i] = string(name)
	}
	return strings.Join(words, ", ")
}

func passWords(plan history.Plan, r *model.Result) string {
	words := "no violation in " + history.Counted(r.Stats.Ops, "operation", "operations")
	if len(r.NotJudged) > 0 {
		words = "none violated in " + history.Counted(r.Stats.Ops, "operation", "operations")
	}
	for _, p := range r.Properties {
		if p.Verdict == model.Masked {
			words += "; " + Masked(plan, &p) + ", and no harm reached the resource"
		}
	}
	if r.Stats.Rejected > 0 {
		words += "; " + Rejected(plan, r.Stats.Rejected) + " rejected"
	}
	if n := r.Stats.ClientDeaths; n > 0 {
		words += "; " + deathWords(n, false)
	}
	return words + littleTested(r)
}

// A pass of less than this says how little it is of (rule J9).
const (
	leastGrants       = 10  // contended, in the load
	leastAvailability = 0.5 // of the load
)

// littleTested is what there was to test, where that was little: "; little was tested: 2 contended grants, the lock was available 13.0 % of
// the load".
func littleTested(r *model.Result) string {
	at := slices.IndexFunc(r.Exposure, func(e model.Exposure) bool { return e.Name == history.ExposureContended })
	if at < 0 || r.Exposure[at].Count >= leastGrants && r.Stats.Availability >= leastAvailability {
		return ""
	}
	return fmt.Sprintf("; little was tested: %s, the lock was available %s of the load",
		history.Counted(r.Exposure[at].Count, "contended grant", "contended grants"), Percent(r.Stats.Availability))
}

// readingWords say how failures were read and what depends on it; "" where they were read as recorded.
func readingWords(r model.OutcomeReading) string {
	if r.FailedAs != history.Info {
		return ""
	}
	words := "operations that failed are read as unknown"
	switch {
	case r.Depends == nil:
		return words
	case r.Contradiction != "":
		return words + "; as recorded, the recording contradicts itself"
	case *r.Depends:
		return words + "; the verdict depends on it: as recorded it is " + string(r.Recorded)
	case len(r.Changed) > 0:
		c := r.Changed[0]
		more := ""
		if n := int64(len(r.Changed)); n > 1 {
			more = fmt.Sprintf(" (and %s)", history.Counted(n-1, "other differs", "others differ"))
		}
		return words + fmt.Sprintf("; the verdict of the run does not depend on it, but %s is %s as recorded and %s here", c.Property, c.Recorded, c.Verdict) + more
	}
	return words + "; no verdict depends on it"
}
