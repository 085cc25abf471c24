package nemesis

import (
	"regexp"
	"strings"
)

// Complete is what can stand at the end of an unfinished spec, each as the whole spec up to there: kinds, targets of the kind behind
// a colon, triggers behind an @.
func Complete(text string) (all []Word) {
	at := strings.LastIndexAny(text, ",;") + 1
	if opened := strings.LastIndexByte(text, '('); opened > strings.LastIndexByte(text, ')') {
		return nil // numbers of members
	}
	before, item := text[:at], text[at:]
	add := func(kept string, words []Word) {
		for _, w := range words {
			if whole := before + kept + w.Name; strings.HasPrefix(whole, text) {
				all = append(all, Word{whole, w.About})
			}
		}
	}
	kind, isKind := kindAtStart(item)
	switch trigger, target := strings.LastIndexByte(item, '@'), strings.IndexByte(item, ':'); {
	case trigger >= 0 && isKind:
		add(item[:trigger], Triggers())
	case target >= 0 && isKind:
		add(item[:target+1], targetsOf(kindNamed(kind)))
	case !strings.ContainsAny(item, "@:+-"):
		for _, k := range Kinds {
			add("", []Word{{k.Name, k.About}})
		}
	}
	return all
}

// targetsOf lists what a kind can be aimed at.
func targetsOf(k *Kind) (all []Word) {
	for _, name := range k.Targets {
		all = append(all, Word{name, roles[name].about})
	}
	return all
}

// Pattern is the grammar as a regular expression, for programs that cannot parse it, such as editors: in the dialect that
// JavaScript, Python and Go share. It takes all that Parse takes. What depends on a kind, such as the targets that it has, or on how
// great a number is, only Parse refuses.
func Pattern() string {
	const number = `[+]?[0-9.][0-9a-fA-FxXpP_.+-]*` // all that strconv takes of numbers
	const duration = `[+]?(?:` + number + `(?:ns|us|µs|μs|ms|s|m|h))+`
	const magnitude = `(?:(?:` + number + `(?:ttl)?\.\.)?` + number + `ttl|(?:` + duration + `\.\.|` + number + `\.\.)?` + duration + `)`
	var triggerNames []string
	for _, t := range triggers {
		triggerNames = append(triggerNames, string(t.name))
	}
	role := anyOf(roleNames()) + `(?:\([^()]*\))?`
	head := anyOf(Names()) + `(?::` + role + `)?(?:@` + anyOf(triggerNames) + `|[+-]` + magnitude + `|-` + role + `)*`
	option := `(?:` + magnitude + `(?:(?:±|[+]-)` + magnitude + `)?|slow=[+-]?` + duration + `|(?:drift=)?[+-]?` + number + `%|[+-]?` + number + `[km]?bit|` + anyOf(words) + `)`
	item := `\s*(?:` + head + `|` + option + `)\s*`
	mix := `\s*` + head + `\s*(?:,` + item + `)*`
	return `^` + mix + `(?:;` + mix + `)*$`
}

// anyOf matches one of these words.
func anyOf(names []string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = regexp.QuoteMeta(name)
	}
	return `(?:` + strings.Join(quoted, "|") + `)`
}
