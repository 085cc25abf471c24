package models

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"lockcheck/checker/foreign/jepsen"
)

// FuzzCheck: no file makes a model panic, contradict Porcupine, or answer without a reason; and reading failures as
// unknown never makes a legal history illegal.
func FuzzCheck(f *testing.F) {
	for _, test := range named {
		f.Add([]byte(test.history))
	}
	for _, test := range keyedHistories {
		f.Add([]byte(test.history))
	}
	f.Add([]byte(`[{:process 0, :type :invoke, :f :acquire, :value 1}{:process 0, :type :ok, :f :acquire, :value {:client "a" :fence 3}}]`))
	f.Fuzz(func(t *testing.T, text []byte) {
		h, err := jepsen.Read(bytes.NewReader(text), "h")
		if err != nil {
			return
		}
		for _, m := range All() {
			parts, err := Split(m, h.Operations)
			var wrong *jepsen.Mistake
			switch {
			case errors.As(err, &wrong) && wrong.Line > 0:
				continue
			case err != nil || len(parts) == 0:
				t.Fatalf("%s: %d parts, %v", m.Name, len(parts), err)
			}
			for _, p := range parts {
				fuzzPart(t, m, p.Operations)
			}
		}
	})
}

func fuzzPart(t *testing.T, m *Model, ops []jepsen.Operation) {
	got, err := Check(m, ops, 20_000)
	var wrong *jepsen.Mistake
	switch {
	case errors.As(err, &wrong) && wrong.Line > 0:
		return
	case err != nil:
		t.Fatalf("%s: %v", m.Name, err)
	case got.Answer == Illegal && (len(got.Counterexample) == 0 || got.Reason == ""), got.Answer == Undecided && got.Reason == "":
		t.Fatalf("%s: %+v", m.Name, got)
	case got.Initial != "" && got.Initial == m.Initial():
		t.Fatalf("%s: it began as that: %+v", m.Name, got)
	}
	if slices.ContainsFunc(got.Counterexample, func(o jepsen.Operation) bool { return o.Line == 0 }) {
		t.Fatalf("%s: a counterexample from nowhere: %+v", m.Name, got)
	}
	other, err := Check(m, jepsen.FailedAsInfo(ops), 20_000)
	if err == nil && got.Answer == Legal && other.Answer == Illegal {
		t.Fatalf("%s: legal, and illegal where more may have happened", m.Name)
	}
}
