package words

import "lockcheck/checker/model"

// Face is how a verdict is shown: always as a word and a shape, so that colour only repeats what they say.
type Face struct {
	Symbol string // one column wide
	Class  string // its name in style sheets
	ansi   string // SGR parameters
}

var faces = map[model.Verdict]Face{
	model.Pass:          {"✓", "pass", "32"},
	model.Violation:     {"✗", "violation", "1;31"},
	model.Masked:        {"◐", "masked", "36"},
	model.Inconclusive:  {"?", "inconclusive", "33"},
	model.NotApplicable: {"–", "na", "2"},
}

// FaceOf is how a verdict is shown. One that there is none of is shown as inconclusive.
func FaceOf(v model.Verdict) Face {
	if f, ok := faces[v]; ok {
		return f
	}
	return Face{"?", "inconclusive", "33"}
}

// Paint colours text as the verdict, for a terminal that wants colour.
func (f Face) Paint(text string) string { return "\x1b[" + f.ansi + "m" + text + "\x1b[0m" }
