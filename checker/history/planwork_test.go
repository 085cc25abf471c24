package history

import (
	"errors"
	"testing"
)

func TestWork(t *testing.T) {
	for text, want := range map[string]Work{
		"20ms..120ms":   DefaultWork,
		"1s..1s":        {FromMS: 1000, ToMS: 1000},
		"20ms..2s,long": {FromMS: 20, ToMS: 2000, Long: true},
		"20ms..120ms,long-if-renewed,tries,given-up": {FromMS: 20, ToMS: 120, Long: true, IfRenewed: true, Tries: true, GivenUp: true},
	} {
		got, err := ParseWork(text)
		again, err2 := ParseWork(got.String())
		if err != nil || err2 != nil || got != want || again != want {
			t.Errorf("%s: %+v, %v, %v", text, got, err, err2)
		}
	}
	for _, text := range []string{"", "20ms", "20..120", "120ms..20ms", "0s..1s", "1s..11m", "20ms..120ms,short", "20ms..120ms,", "20ms..120ms,long,long-if-renewed"} {
		if got, err := ParseWork(text); err == nil {
			t.Errorf("%q is %+v", text, got)
		}
	}
	if p := (Plan{}); p.Works() != DefaultWork {
		t.Error("a plan from before there was a choice works otherwise now")
	}
	for _, w := range []Work{{FromMS: 5, ToMS: 1}, {FromMS: 20, ToMS: 120, IfRenewed: true}} {
		if err := w.validate(); !errors.Is(err, ErrMalformed) {
			t.Errorf("%+v: %v", w, err)
		}
	}
}

func TestLeasesHold(t *testing.T) {
	for nemesis, want := range map[string]bool{"": true, "none": true, "kill": true, "kill:all@work,at-once": true, "kill:one;kill:client": true,
		"pause": false, "kill,pause": false, "kill:all@work,at-once;delay:client-resource,4ttl": false, "partition": false} {
		if got := LeasesHold(nemesis); got != want {
			t.Errorf("%q: %v", nemesis, got)
		}
	}
}
