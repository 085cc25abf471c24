package models

import (
	"testing"

	"lockcheck/checker/foreign/jepsen"
)

// Four releases are too many for three acquires, and which three moments they need lies in no one stretch of time: the
// counterexample is the whole beginning. (Found among 300,000 random histories.)
func TestNoStretchExplainsIt(t *testing.T) {
	op := func(process, f string, call, back int64) jepsen.Operation {
		o := jepsen.Operation{Process: process, F: f, Call: call, Return: back, Outcome: "ok", Line: int(call), EndLine: int(back)}
		if back == jepsen.Never {
			o.Outcome, o.EndLine = "info", 0
		}
		return o
	}
	ops := []jepsen.Operation{
		op("1", "release", 1, 3), op("0", "acquire", 2, jepsen.Never), op("1", "release", 4, jepsen.Never),
		op("3", "acquire", 7, 9), op("2", "acquire", 8, 10), op("3", "release", 11, 12), op("3", "release", 13, 14),
	}
	if oracle("mutex", ops) {
		t.Fatal("the oracle finds an order")
	}
	got, err := Check(Mutex, ops, DefaultSteps)
	if err != nil || got.Answer != Illegal || got.ConfirmedBy != Porcupine {
		t.Fatalf("%+v (%v), want illegal, confirmed", got, err)
	}
	if oracle("mutex", got.Counterexample) || oracle("mutex", without(ops, got.Counterexample)) {
		t.Errorf("the counterexample is none:%s", spell(got.Counterexample))
	}
}
