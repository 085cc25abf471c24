package index

import (
	"fmt"

	"lockcheck/reports/words"
)

// maxChanges bounds what is said of one entry.
const maxChanges = 8

// compareAll says of each entry, the newest first, what changed since the last one of the same plan that came to a verdict.
func compareAll(entries []*entry) {
	for i, e := range entries {
		if e.found.plan == "" || e.found.verdict == "" {
			continue
		}
		for _, before := range entries[i+1:] {
			if before.kind == e.kind && before.found.plan == e.found.plan && before.found.verdict != "" {
				e.since, e.changes = before.name, changes(before.found.facts, e.found.facts)
				break
			}
		}
	}
}

// changes are the facts of two that differ, in the order of the later one.
func changes(before, after []fact) (all []string) {
	had := map[string]string{}
	for _, f := range before {
		had[f.name] = f.value
	}
	for _, f := range after {
		name := words.Clip(f.name, words.MaxName)
		switch value, was := had[f.name]; {
		case !was:
			all = append(all, fmt.Sprintf("%s: %s, and not known before", name, words.Clip(f.value, words.MaxName)))
		case value != f.value:
			all = append(all, fmt.Sprintf("%s: %s → %s", name, words.Clip(value, words.MaxName), words.Clip(f.value, words.MaxName)))
		}
		delete(had, f.name)
	}
	for _, f := range before {
		if value, gone := had[f.name]; gone {
			all = append(all, fmt.Sprintf("%s: %s before, and not known now", words.Clip(f.name, words.MaxName), words.Clip(value, words.MaxName)))
		}
	}
	if more := len(all) - maxChanges; more > 0 {
		all = append(all[:maxChanges], fmt.Sprintf("and %d more", more))
	}
	return all
}
