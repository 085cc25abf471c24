package models

import (
	"math/rand/v2"
	"slices"
	"testing"

	"lockcheck/checker/foreign/jepsen"
	"lockcheck/checker/history"
)

// initials are what registers of random histories begin with. Clients write and find 0, 1 and 2.
var initials = []string{"nil", "0", "1", "7"}

// Registers that began with some value, given as the right one, another or none: the answers are the oracle's, and so is what
// is said of the initial value.
func TestInitialValuesAgreeWithTheOracle(t *testing.T) {
	n := histories(t)
	for _, m := range []*Model{Register, CASRegister} {
		t.Run(m.Name, func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(uint64(len(m.Name)), 13))
			seen, blamed, wrongly := map[Answer]int{}, 0, 0
			for i := range n {
				began, assumed := initials[r.IntN(len(initials))], initials[r.IntN(len(initials))]
				if r.IntN(2) == 0 {
					assumed = began
				}
				ops := random(r, m.Name, i%4 == 0, began)
				begun, err := m.BeginsAs(text(assumed))
				if err != nil {
					t.Fatal(err)
				}
				begun.exposed = func([]op) string { return "" }
				got, err := Check(begun, ops, DefaultSteps)
				want := Legal
				if !oracleFrom(assumed, m.Name, ops) {
					want = Illegal
				}
				if err != nil || got.Answer != want {
					t.Fatalf("history %d, begun as %s: %v, %s (%s), want %s:%s", i, assumed, err, got.Answer, got.Reason, want, spell(ops))
				}
				if seen[want]++; want == Legal {
					continue
				}
				if oracleFrom(assumed, m.Name, got.Counterexample) || oracleFrom(assumed, m.Name, without(ops, got.Counterexample)) {
					t.Fatalf("history %d, begun as %s: the counterexample is none (%s):%s\nof%s", i, assumed, got.Reason, spell(got.Counterexample), spell(ops))
				}
				cut := explainedUntil(assumed, m.Name, ops)
				switch {
				case got.Initial != "" && (got.Initial == assumed || !oracleFrom(got.Initial, m.Name, cut)):
					t.Fatalf("history %d, begun as %s: %s: it would be one with %s, too:%s\nof%s", i, assumed, got.Reason, got.Initial, spell(cut), spell(ops))
				case got.Initial != "":
					blamed++
				case slices.ContainsFunc(got.Counterexample, func(o jepsen.Operation) bool {
					x := found(o)
					return x != "" && x != assumed && oracleFrom(x, m.Name, cut)
				}):
					t.Fatalf("history %d, begun as %s: with another value it would not be (%s):%s\nof%s", i, assumed, got.Reason, spell(cut), spell(ops))
				}
				if got.Initial != "" && got.Initial != began && oracleFrom(began, m.Name, ops) {
					wrongly++ // true as a sentence, and not what happened: another value explains the beginning as well
				}
			}
			t.Logf("%d histories: %v; %d for the initial value, %d of them for another than it was", n, seen, blamed, wrongly)
			if min(seen[Legal], seen[Illegal]) < n/10 || blamed < n/20 {
				t.Errorf("one-sided: %v, %d for the initial value", seen, blamed)
			}
		})
	}
}

// found is the value that an operation that succeeded found; "" if it says nothing.
func found(o jepsen.Operation) string {
	switch {
	case o.Outcome != history.OK || o.F == "read" && o.Output.IsNil():
		return ""
	case o.F == "read":
		return o.Output.String()
	case o.F == "cas":
		return o.Input.Items()[0].String()
	}
	return ""
}

func text(edn string) jepsen.Value {
	v, err := jepsen.ParseValue(edn)
	if err != nil {
		panic(err)
	}
	return v
}
