package checker

import (
	"strings"
	"testing"

	"lockcheck/checker/model"
)

func TestOverlapInsideBothValiditiesIsMarked(t *testing.T) {
	text := `
		1.0 a acquire h1
		1.1 a acquire:ok h1 valid=3
		1.2 b acquire h2
		1.3 b acquire:ok h2 valid=%s
		1.5 a lost h1 held=1.4
		1.5 b lost h2 held=1.4`
	for valid, want := range map[string]bool{"3.2": true, "1.2": false} {
		result := verdicts(t, untokened(), strings.ReplaceAll(text, "%s", valid), "mutual-exclusion:1")
		if got := propertyOf(result, model.MutualExclusion).Findings[0].Unavoidable; got != want {
			t.Errorf("valid to %s: unavoidable %v", valid, got)
		}
	}
}

func TestMutualExclusion(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"holds that touch do not overlap": {`
			1.0 a acquire h1
			1.1 a acquire:ok h1 token=1
			1.1 b acquire h2
			1.3 b acquire:ok h2 token=2
			1.4 a lost h1 held=1.3
			1.5 b lost h2 held=1.4`, ""},
		"a hold that was never confirmed is not counted": {`
			1.0 a acquire h1
			1.1 a acquire:ok h1 token=1
			1.1 b acquire h2
			1.3 b acquire:ok h2 token=2
			1.4 a exit h1
			1.5 b exit h2 held=1.4`, ""},
		"never later than the release": {`
			1.0 a acquire h1
			1.1 a acquire:ok h1 token=1
			1.1 b acquire h2
			1.2 a release h1
			1.3 b acquire:ok h2 token=2
			1.4 a release:ok h1 held=1.35
			1.5 b exit h2 held=1.4`, ""},
		"never later than the asking to close": {`
			1.0 a acquire h1
			1.1 a acquire:ok h1 token=1
			1.1 b acquire h2
			1.2 a close
			1.3 b acquire:ok h2 token=2
			1.4 a exit h1 held=1.35
			1.5 b exit h2 held=1.4`, ""},
		"a loss told before the grant voids it": {`
			1.0 a acquire h1
			1.05 a lost session=s1
			1.1 a acquire:ok h1 token=1 session=s1
			1.1 b acquire h2
			1.3 b acquire:ok h2 token=2
			1.4 a exit h1 held=1.35
			1.5 b exit h2 held=1.4`, ""},
		"one client twice is its own affair": {`
			1.0 a acquire h1
			1.1 a acquire:ok h1 token=1
			1.1 a.2 acquire h2
			1.3 a.2 acquire:ok h2 token=2
			1.4 a exit h1 held=1.35
			1.5 a exit h2 held=1.4`, ""},
		"different locks": {`
			1.0 a acquire h1 key=x
			1.1 a acquire:ok h1 token=1
			1.1 b acquire h2 key=y
			1.3 b acquire:ok h2 token=2
			1.4 a exit h1 held=1.35
			1.5 b exit h2 held=1.4`, ""},
		"three at once are three pairs": {`
			1.0 a acquire h1
			1.0 b acquire h2
			1.0 c acquire h3
			1.1 a acquire:ok h1 token=1
			1.2 b acquire:ok h2 token=2
			1.3 c acquire:ok h3 token=3
			1.5 a exit h1 held=1.4
			1.5 b exit h2 held=1.4
			1.5 c exit h3 held=1.4`, "mutual-exclusion:3"},
	} {
		t.Run(name, func(t *testing.T) { verdicts(t, plainPlan(), test.text, test.want) })
	}
}
