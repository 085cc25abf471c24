package words

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
)

// maxNextSteps bounds the sentences below a verdict. The report has all advice.
const maxNextSteps = 2

// NextSteps say what to do after a verdict that is no pass, the most useful step first: what would have prevented the first finding of the
// headline, or what makes an inconclusive run tell. evidence is that of the headline's first finding.
func NextSteps(plan history.Plan, r *model.Result, evidence func(*model.Property, model.Finding) Evidence) []string {
	var steps []string
	switch p := Headline(r); {
	case p != nil && len(p.Findings) > 0:
		steps = Prevention(p.Name, evidence(p, p.Findings[0]))
	case r.Verdict == model.Inconclusive && plan.Excerpt == nil:
		steps = conclusive(plan, r)
	}
	return steps[:min(len(steps), maxNextSteps)]
}

// Unmet is a reason why a run could not tell, and what to do about it. The table is also that of the page about inconclusive runs.
type Unmet struct {
	Reason, Action string
	of             func(exposure string) bool
	flags          func(history.Plan, model.Exposure) []string // of the run that probably tells
}

// Unmets are the reasons in the order in which they are looked for.
var Unmets = []Unmet{
	{
		Reason: "too few grants of a lock that another client waited for", Action: "Use more clients for each lock, and a longer load",
		of: named(history.ExposureContended),
		flags: func(p history.Plan, x model.Exposure) []string {
			return append(longer(p, model.Exposure{}), fmt.Sprintf("--clients=%d", max(2*p.Clients, 2)), "--keys=1")
		},
	},
	{
		Reason: "too few clients wrote, recorded a slot or renewed a lease; or too few slots were recorded", Action: "Use a longer load",
		of:    named(history.ExposureWriters, history.ExposureRecorders, history.ExposureSlots, history.ExposureRenewed),
		flags: longer,
	},
	{
		Reason: "no fault hit a holder, or none outlasted the holder's lease", Action: "Aim the fault at a holder at work, and let it last longer than the lease",
		of: func(name string) bool {
			return strings.HasSuffix(name, history.OfHolders("")) || strings.HasSuffix(name, history.PastLease(""))
		},
		flags: aimed,
	},
	{
		Reason: "too few faults took effect", Action: "Use a longer load, and look at the faults of the report: each says why it had no effect",
		of:    func(string) bool { return true },
		flags: longer,
	},
}

func named(names ...string) func(string) bool {
	return func(name string) bool { return slices.Contains(names, name) }
}

const (
	maxLonger = 20
	// minLeases is the shortest load that is advised: a fault that outlasts a lease, and what follows it, have to fit in.
	minLeases = 5
)

// longer is a load that probably meets a requirement of which a part was met: longer by what was missing, and at least twice as long.
func longer(p history.Plan, x model.Exposure) []string {
	times := int64(2)
	if x.Count > 0 {
		times = min(max(times, x.Min/x.Count+1), maxLonger)
	}
	ms := max(p.TimeLimitMS*times, minLeases*max(p.TTLMS, p.EffectiveMS))
	return []string{"--time-limit=" + (time.Duration(ms) * time.Millisecond).String()}
}

// aimed replaces a nemesis that is one bare name: a description of faults is the user's own.
func aimed(p history.Plan, x model.Exposure) []string {
	w := history.WordsOf(history.F(p.Nemesis))
	switch {
	case w.Silences && x.Name == history.PastLease(w.Exposures):
		return append(longer(p, x), "--nemesis="+p.Nemesis+":holder@work,1.5..2ttl")
	case w.Silences && x.Name == history.OfHolders(w.Exposures):
		return append(longer(p, x), "--nemesis="+p.Nemesis+":holder@work")
	}
	return longer(p, x)
}

// conclusive are the steps towards a run that tells: an action for the first requirement that was not met, with its command.
func conclusive(plan history.Plan, r *model.Result) (steps []string) {
	for _, x := range r.Exposure {
		if x.Count >= x.Min {
			continue
		}
		u := Unmets[slices.IndexFunc(Unmets, func(u Unmet) bool { return u.of(x.Name) })]
		steps = append(steps, fmt.Sprintf("%s (%s: %s, at least %s required).", u.Action, Clip(x.Name, MaxName), history.Grouped(x.Count), history.Grouped(x.Min)))
		return append(steps, example(plan, u.flags(plan, x))...)
	}
	for _, p := range r.Properties {
		switch {
		case p.Verdict == model.Inconclusive && strings.Contains(p.Reason, model.Unheard):
			return []string{"Find out why that client hung: its log is below nodes/. Then run it again."}
		case p.Verdict == model.Inconclusive:
			return append(steps, append([]string{fmt.Sprintf("Use a longer load, in which more happens that %s can judge.", p.Name)}, example(plan, longer(plan, model.Exposure{}))...)...)
		}
	}
	if r.Stats.Stalls > 0 || r.Stats.ThrottledNS > 0 {
		return []string{"The harness froze: run it again on a quieter machine, and alone (compare --jobs=1)."}
	}
	return nil
}

// example is the command of a run with other flags; none where a test or a plan file says how it is made.
func example(plan history.Plan, flags []string) []string {
	if len(plan.Command) < 2 || plan.Command[0] != "lockcheck" || plan.PlanFile != "" {
		return nil
	}
	return []string{"For example: " + Plain(ShellWords(withFlags(plan.Command, flags)))}
}

// withFlags is a command with some flags, in place of those of the same name.
func withFlags(command, flags []string) []string {
	command = slices.Clone(command)
	for _, flag := range flags {
		name, _, _ := strings.Cut(flag, "=")
		command = slices.DeleteFunc(command, func(word string) bool { return strings.HasPrefix(word, name+"=") })
		command = append(command, flag)
	}
	return command
}
