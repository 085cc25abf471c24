package nemesis

import "strings"

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
