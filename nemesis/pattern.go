package nemesis

import (
	"regexp"
	"strings"
)

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
