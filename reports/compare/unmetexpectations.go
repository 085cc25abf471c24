package compare

import (
	"fmt"
	"slices"
	"strings"

	"lockcheck/checker/model"
	"lockcheck/reports/words"
)

// account is why a cell is not as it should be, for a reader who may see nothing else: first what happened, then in one line
// what was expected otherwise.
type account struct {
	Happened []string // the run's verdict in one sentence, its first finding, the cause; empty if no run was made
	Unmet    string   // the problems; "" without any
	Others   []string // what else Why says
}

// newAccount is the account of a cell.
func newAccount(r Result) account {
	a := account{Happened: r.happened(), Unmet: unmetWords(r.Problems)}
	for _, why := range r.Why()[len(r.Problems):] {
		if !slices.Contains(a.Happened, why) { // without an expectation Why is the run's sentence
			a.Others = append(a.Others, why)
		}
	}
	return a
}

// lines are the whole account.
func (a account) lines() []string {
	lines := slices.Clone(a.Happened)
	if a.Unmet != "" {
		lines = append(lines, a.Unmet)
	}
	return append(lines, a.Others...)
}

// message is the account in one line. What happened leaves room for what was expected.
func (a account) message() string {
	happened := words.Clip(strings.Join(a.Happened, "; "), maxText)
	rest := words.Clip(strings.Join(account{Unmet: a.Unmet, Others: a.Others}.lines(), "; "), maxText)
	if happened == "" || rest == "" {
		return happened + rest
	}
	return happened + "; " + rest
}

// maxMessage bounds what message returns, with the clips' marks and what joins the two.
const maxMessage = 2*maxText + len("…; …")

// happened is what the run showed that tells most about why the cell is as it is.
func (r Result) happened() []string {
	run, name := r.telling()
	if run.Sentence == "" {
		return nil
	}
	lines := []string{run.Sentence}
	switch {
	case name == "":
	case name == run.headline() && len(run.Story) > 0: // a run keeps one story, that of its headline
		lines = append(lines, "first finding: "+run.Story[0])
		if last := run.Story[len(run.Story)-1]; strings.HasPrefix(last, causePrefix) {
			lines = append(lines, last)
		}
	default:
		if why := run.property(name).Why; why != "" {
			lines = append(lines, fmt.Sprintf("first finding of %s: %s", name, why))
		}
	}
	return lines
}

// telling is the run, of those that were made, that shows why the cell is as it is, and its property to tell of: the most harmful
// violation that was not expected, else the most harmful one; "" if nothing was violated.
func (r Result) telling() (Run, model.Name) {
	unexpected := func(name model.Name) bool {
		return slices.ContainsFunc(r.Problems, func(p Problem) bool { return p.Kind == Unexpected && p.Property == name })
	}
	for _, wanted := range []func(model.Name) bool{unexpected, func(model.Name) bool { return true }} {
		var told Run
		var worst model.Name
		for _, run := range r.Runs {
			for _, p := range run.Properties {
				if run.Error == "" && p.Verdict == model.Violation && wanted(p.Name) && (worst == "" || words.ByHarm(p.Name, worst) < 0) {
					told, worst = run, p.Name
				}
			}
		}
		if worst != "" {
			return told, worst
		}
	}
	if run, ok := r.representative(); ok && run.Error == "" {
		return run, ""
	}
	return Run{}, ""
}

// unmetWords are the problems in one line. Properties of which the same is said share it.
func unmetWords(problems []Problem) string {
	type said struct {
		kind     ProblemKind
		what, at string
	}
	var order []said
	names := map[said][]string{}
	for _, p := range problems {
		s := said{p.Kind, p.Text, at(p)}
		if what, ok := strings.CutPrefix(p.Text, string(p.Property)+" is "); ok && p.Property != "" {
			s.what = what
			names[s] = append(names[s], string(p.Property))
		}
		if !slices.Contains(order, s) {
			order = append(order, s)
		}
	}
	parts := make([]string, len(order))
	for i, s := range order {
		text := s.what
		switch all := names[s]; {
		case len(all) == 1:
			text = all[0] + " is " + s.what
		case len(all) > 1:
			text = strings.Join(all[:len(all)-1], ", ") + " and " + all[len(all)-1] + " are " + s.what
		}
		parts[i] = string(s.kind) + ": " + text + s.at
	}
	return strings.Join(parts, "; ")
}

// Next is what to do about cells that are not as expected, in one line; "" if there are none. That there was harm is no reason to
// expect it: to prevent it comes beside it.
func (c *Comparison) Next() string {
	unexpected, missing := false, false
	for _, cell := range c.Cells {
		for _, p := range cell.Problems {
			unexpected, missing = unexpected || p.Kind == Unexpected, missing || p.Kind == Missing
		}
		unexpected = unexpected || cell.Outcome == Unmet && cell.Expectation == nil
	}
	file := "a file of expectations (lockcheck init writes one)"
	if c.File != "" {
		file = c.File
	}
	switch {
	case unexpected:
		return "what to do: prevent it (each run's report says what would have; a fencing token keeps stale writes from the data), " +
			"or accept it: list it under `expect:` in " + file
	case missing:
		return "what to do: find out why the violation did not come (a fix, or too few runs: --repeat), or take it out of `expect:` in " + file
	}
	return ""
}
