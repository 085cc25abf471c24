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
	} {
		got, err := ParseWork(text)
		again, err2 := ParseWork(got.String())
		if err != nil || err2 != nil || got != want || again != want {
			t.Errorf("%s: %+v, %v, %v", text, got, err, err2)
		}
	}
	for _, text := range []string{"", "20ms", "20..120", "120ms..20ms", "0s..1s", "1s..11m", "20ms..120ms,short", "20ms..120ms,"} {
		if got, err := ParseWork(text); err == nil {
			t.Errorf("%q is %+v", text, got)
		}
	}
	if p := (Plan{}); p.Works() != DefaultWork {
		t.Error("a plan from before there was a choice works otherwise now")
	}
	if err := (&Work{FromMS: 5, ToMS: 1}).validate(); !errors.Is(err, ErrMalformed) {
		t.Errorf("%v", err)
	}
}
