package reports

import (
	"fmt"
	"math"
	"strings"
	"unicode"

	"lockcheck/checker"
	"lockcheck/checker/history"
)

// face is how a verdict is shown: always as a word and a shape, so that colour only repeats what they say.
type face struct {
	Symbol string // one column wide
	Class  string // CSS
	ansi   string // SGR parameters
}

var faces = map[checker.Verdict]face{
	checker.Pass:          {"✓", "pass", "32"},
	checker.Violation:     {"✗", "violation", "1;31"},
	checker.Masked:        {"◐", "masked", "36"},
	checker.Inconclusive:  {"?", "inconclusive", "33"},
	checker.NotApplicable: {"–", "na", "2"},
}

func faceOf(v checker.Verdict) face {
	if f, ok := faces[v]; ok {
		return f
	}
	return face{"?", "inconclusive", "33"}
}

// wording is what a property is called in a sentence, and what it means to somebody who did not read the manual.
type wording struct {
	one, many string // with the number in front: "1 stale write accepted"
	meaning   string
}

var wordings = map[checker.Name]wording{
	checker.MutualExclusion: {"overlap of two holders", "overlaps of two holders",
		"Two clients never believe at the same time that they hold one lock."},
	checker.LockLinearizability: {"contradiction in the lock's answers", "contradictions in the lock's answers",
		"The answers of the lock service fit some order of the operations, given the leases it promised."},
	checker.EarlyExpiry: {"grant lost before its lease could run out", "grants lost before their lease could run out",
		"The service takes no grant away before its acknowledged lease can have run out."},
	checker.ReleaseByOwner: {"grant freed by another client's release", "grants freed by another client's release",
		"Only the owner of a grant can free it."},
	checker.TokenMonotonicity: {"token that did not grow", "tokens that did not grow",
		"A later grant always carries a greater token."},
	checker.StaleWrite: {"stale write accepted", "stale writes accepted",
		"The storage applies no write of a holder whose lock had passed on."},
	checker.LostUpdate: {"acknowledged update lost", "acknowledged updates lost",
		"No acknowledged update is overwritten by one that was not built on it."},
	checker.ResourceLinearizability: {"conflict of updates that no order explains", "conflicts of updates that no order explains",
		"What holders read fits some order of their updates."},
	checker.Liveness: {"lock that nobody can get any more", "locks that nobody can get any more",
		"Once all faults are gone, fresh clients can take the lock."},
}

var layerMeanings = map[checker.Layer]string{
	checker.LayerBelief:   "What clients believe. Unavoidable for leases whose holder can be paused: the reason why fencing exists.",
	checker.LayerService:  "What the lock promised. A violation is a bug of the service, of its settings or of the lock client.",
	checker.LayerFencing:  "Whether a stale holder is kept away from the data.",
	checker.LayerEffect:   "What became of the data. A violation is harm done.",
	checker.LayerLiveness: "Whether the lock can still be had afterwards.",
}

// byHarm is the order in which violations compete for the headline: harm to data first, then bugs of the service, then
// what fencing could still have masked.
var byHarm = []checker.Name{checker.StaleWrite, checker.LostUpdate, checker.ResourceLinearizability,
	checker.LockLinearizability, checker.EarlyExpiry, checker.ReleaseByOwner, checker.TokenMonotonicity,
	checker.MutualExclusion, checker.Liveness}

// headline is the violated property that a reader has to hear of first; nil if there is none.
func headline(r *checker.Result) *checker.Property {
	for _, name := range byHarm {
		if p := property(r, name); p != nil && p.Verdict == checker.Violation {
			return p
		}
	}
	for i := range r.Properties { // a property this page does not know yet
		if r.Properties[i].Verdict == checker.Violation {
			return &r.Properties[i]
		}
	}
	return nil
}

func property(r *checker.Result, name checker.Name) *checker.Property {
	for i := range r.Properties {
		if r.Properties[i].Name == name {
			return &r.Properties[i]
		}
	}
	return nil
}

// Sentence is the verdict in one sentence, such as
// "UNSAFE: etcd under pause: 14 stale writes accepted, first at 12.431 s".
func Sentence(plan history.Plan, r *checker.Result) string {
	sentence := sentence(plan, r)
	if words := readingWords(r.OutcomeReading); words != "" {
		sentence += " (" + plain(words) + ")"
	}
	return sentence
}

func sentence(plan history.Plan, r *checker.Result) string {
	what := plan.Backend
	if plan.Nemesis == "none" || plan.Nemesis == "" {
		what += " without faults"
	} else {
		what += " under " + plan.Nemesis
	}
	switch r.Verdict {
	case checker.Violation:
		return plain("UNSAFE: " + what + ": " + violationWords(r))
	case checker.Inconclusive:
		return plain("INCONCLUSIVE: " + what + ": " + firstOf(r.Reason, "what was to be tested did not happen"))
	case checker.Pass:
		return plain("PASS: " + what + ": " + passWords(r))
	}
	return plain(strings.ToUpper(string(r.Verdict)) + ": " + what + ": " + r.Reason)
}

func violationWords(r *checker.Result) string {
	p := headline(r)
	if p == nil {
		return firstOf(r.Reason, "a property is violated")
	}
	words := counted(p)
	if len(p.Findings) > 0 {
		words += ", first at " + clock(p.Findings[0].AtNS)
	}
	others := 0
	var service []string
	for _, q := range r.Properties {
		if q.Verdict != checker.Violation || q.Name == p.Name {
			continue
		}
		if q.Layer == checker.LayerService && p.Layer != checker.LayerService {
			service = append(service, counted(&q))
			continue
		}
		others++
	}
	if len(service) > 0 {
		words += "; and the lock itself is at fault: " + strings.Join(service, ", ")
	}
	if others > 0 {
		words += "; " + plural(int64(others), "other property", "other properties") + " violated"
	}
	return words
}

func counted(p *checker.Property) string {
	w, ok := wordings[p.Name]
	if !ok {
		w = wording{one: string(p.Name) + " violation", many: string(p.Name) + " violations"}
	}
	return plural(p.Count, w.one, w.many)
}

func passWords(r *checker.Result) string {
	words := "no violation in " + plural(r.Stats.Ops, "operation", "operations")
	for _, p := range r.Properties {
		if p.Verdict == checker.Masked {
			words += fmt.Sprintf("; %s, all masked by fencing", counted(&p))
		}
	}
	if r.Stats.Rejected > 0 {
		words += "; " + plural(r.Stats.Rejected, "stale write", "stale writes") + " rejected"
	}
	return words
}

func firstOf(words ...string) string {
	for _, w := range words {
		if w != "" {
			return w
		}
	}
	return ""
}

// plural and grouped are the names by which everything here calls them.
func plural(n int64, one, many string) string { return history.Counted(n, one, many) }

func grouped(n int64) string { return history.Grouped(n) }

// clock is a moment of the run: seconds since its start, to the millisecond.
func clock(ns int64) string { return fmt.Sprintf("%.3f s", float64(ns)/1e9) }

// span is a length of time in the unit that people would choose.
func span(ns int64) string {
	abs := math.Abs(float64(ns))
	switch {
	case abs >= 10e9:
		return fmt.Sprintf("%.1f s", float64(ns)/1e9)
	case abs >= 1e9:
		return fmt.Sprintf("%.2f s", float64(ns)/1e9)
	case abs >= 100e6:
		return fmt.Sprintf("%.0f ms", float64(ns)/1e6)
	case abs >= 1e6:
		return fmt.Sprintf("%.1f ms", float64(ns)/1e6)
	case abs >= 1e3:
		return fmt.Sprintf("%.0f µs", float64(ns)/1e3)
	}
	return fmt.Sprintf("%d ns", ns)
}

// spanMS is the same for the plan's milliseconds.
func spanMS(ms int64) string { return span(ms * 1e6) }

// plain makes text of unknown origin harmless on a terminal: what a history says may have come from any client, and a
// terminal obeys what it is shown.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\t' || r == '\n' || r == '\r' {
			return ' '
		}
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == unicode.ReplacementChar {
			return '·'
		}
		return r
	}, s)
}

// shellWords joins a command so that it can be pasted into a shell.
func shellWords(command []string) string {
	quoted := make([]string, len(command))
	for i, word := range command {
		quoted[i] = word
		if word == "" || strings.ContainsFunc(word, func(r rune) bool {
			return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_=./:,+@%", r))
		}) {
			quoted[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}

// Again is the command that does a run once more, ready to be pasted into a shell.
func Again(plan history.Plan) string {
	if len(plan.Command) > 0 {
		return plain(shellWords(plan.Command))
	}
	return plain(shellWords([]string{"lockcheck", "run", "--backend=" + plan.Backend, "--nemesis=" + plan.Nemesis,
		"--workload=" + plan.Workload, fmt.Sprintf("--seed=%d", plan.Seed)}))
}
