package main

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"lockcheck/checker/foreign/models"
	"lockcheck/checker/history"
	"lockcheck/checker/model"
)

// maxKeys is how many keys a terminal is given.
const maxKeys = 20

var heads = map[model.Verdict]string{
	model.Pass: "✓ PASS", model.Violation: "✗ UNSAFE", model.Inconclusive: "? INCONCLUSIVE",
}

// sentence is the verdict in one line.
func (v *foreignVerdict) sentence(w io.Writer) error {
	_, err := fmt.Fprintf(w, "%s: %s as %s: %s\n", heads[v.verdict], visible(v.history.File), v.model.Name, visible(v.why()))
	return err
}

// why is what the verdict rests on: an order of all, or what the first key that decided it came to.
func (v *foreignVerdict) why() string {
	if v.verdict == model.Pass {
		return v.explained()
	}
	p := v.deciding()
	why := p.why()
	if same := len(v.keys(func(p *foreignPart) bool { return v.decides(p) })); same > 1 {
		what := "have no verdict"
		if v.verdict == model.Violation {
			what = "are violated"
		}
		why += fmt.Sprintf(" (%d of %d keys %s)", same, len(v.parts), what)
	}
	return why
}

func (v *foreignVerdict) explained() string {
	n := len(v.history.Operations)
	why := "an order explains all " + history.Counted(n, "operation", "operations")
	if n == 1 {
		why = "an order explains the one operation"
	}
	switch {
	case len(v.parts) > 1:
		why += fmt.Sprintf(" of %d keys, each key by itself", len(v.parts))
	case v.parts[0].Keyed:
		why += " of the key " + v.parts[0].Key.String()
	}
	if untested := v.keys(func(p *foreignPart) bool { return p.result.Untested }); len(untested) > 0 {
		why += fmt.Sprintf("; nothing to judge in %d of them: %s", len(untested), keyList(untested))
	}
	return why
}

// decides reports whether a key came to the verdict of the file. Where some are undecided, those with nothing to judge are
// not why.
func (v *foreignVerdict) decides(p *foreignPart) bool {
	if v.verdict != verdicts[p.result.Answer] {
		return false
	}
	return !p.result.Untested || !slices.ContainsFunc(v.parts, func(p foreignPart) bool { return p.result.Answer == models.Undecided && !p.result.Untested })
}

// deciding is the first key that came to the verdict of the file.
func (v *foreignVerdict) deciding() *foreignPart {
	for i := range v.parts {
		if v.decides(&v.parts[i]) {
			return &v.parts[i]
		}
	}
	return &v.parts[0]
}

func (v *foreignVerdict) keys(of func(*foreignPart) bool) (names []string) {
	for i := range v.parts {
		if of(&v.parts[i]) {
			names = append(names, v.parts[i].Key.String())
		}
	}
	return names
}

// keyList is the names of keys, as many as a line takes.
func keyList(names []string) string {
	text := strings.Join(names[:min(len(names), maxKeys)], ", ")
	if more := len(names) - maxKeys; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// why is what a key came to, with its name where it has one, and what to do if only the initial value is wrong.
func (p *foreignPart) why() string {
	why := p.reason()
	if p.Keyed {
		why = "key " + p.Key.String() + ": " + why
	}
	return why
}

func (p *foreignPart) reason() string {
	if p.result.Initial == "" {
		return p.result.Reason
	}
	return fmt.Sprintf("%s; if it began as %s, say --initial=%s", p.result.Reason, p.result.Initial, quoted(p.result.Initial))
}

var bareWord = regexp.MustCompile(`^[A-Za-z0-9_.:+/-]+$`)

// quoted is a word as a shell takes it.
func quoted(word string) string {
	if bareWord.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
