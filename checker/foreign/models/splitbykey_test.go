package models

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"lockcheck/checker/foreign/jepsen"
)

func recorded(t *testing.T, text string) []jepsen.Operation {
	t.Helper()
	h, err := jepsen.Read(strings.NewReader(strings.TrimPrefix(text, "\n")), "h")
	if err != nil {
		t.Fatal(err)
	}
	return h.Operations
}

// Tiny histories of several keys in one file, and what each key comes to.
var keyedHistories = []struct {
	name, history string
	model         *Model
	want          string // key and answer, in the order of the keys
}{
	{"two locks, held at once", `
0 :invoke :acquire [:a nil]
0 :ok :acquire [:a nil]
1 :invoke :acquire [:b nil]
1 :ok :acquire [:b nil]`, Mutex, ":a legal; :b legal"},
	{"one of two locks, held twice", `
0 :invoke :acquire [:a nil]
0 :ok :acquire [:a nil]
1 :invoke :acquire [:b nil]
1 :ok :acquire [:b nil]
2 :invoke :acquire [:b nil]
2 :ok :acquire [:b nil]`, OwnerMutex, ":a legal; :b illegal 3-4 5-6"},
	{"each lock counts its own tokens", `
0 :invoke :acquire ["a" nil]
0 :ok :acquire ["a" 7]
1 :invoke :acquire ["b" nil]
1 :ok :acquire ["b" 7]`, FencedMutex, `"a" legal; "b" legal`},
	{"the tokens of one lock", `
0 :invoke :acquire ["a" nil]
0 :ok :acquire ["a" 7]
0 :invoke :release ["a" nil]
0 :ok :release ["a" nil]
1 :invoke :acquire ["a" nil]
1 :ok :acquire ["a" 7]`, FencedMutex, `"a" illegal 1-2 3-4 5-6`},
	{"two registers", `
0 :invoke :write [1 5]
0 :ok :write [1 5]
0 :invoke :read [2 nil]
0 :ok :read [2 nil]
1 :invoke :read [1 nil]
1 :ok :read [1 5]`, Register, "1 legal; 2 untested"},
	{"a register that shows the other's value", `
0 :invoke :write [1 5]
0 :ok :write [1 5]
0 :invoke :read [2 nil]
0 :ok :read [2 5]
1 :invoke :read [1 nil]
1 :ok :read [1 5]`, CASRegister, "1 legal; 2 illegal 3-4"},
	{"swaps of keys", `
0 :invoke :cas [1 [nil 2]]
0 :ok :cas [1 [nil 2]]
0 :invoke :cas [1 [3 4]]
0 :ok :cas [1 [3 4]]
1 :invoke :read [2 nil]
1 :info :read "timeout"`, CASRegister, "1 illegal 3-4; 2 untested"},
	{"keys of every kind, and an answer that never came", `
0 :invoke :acquire [1 nil]
0 :ok :acquire [1 nil]
1 :invoke :acquire [1.0 nil]
1 :ok :acquire [1.0 nil]
2 :invoke :acquire [[1 2] nil]
2 :ok :acquire [(1 2) nil]
3 :invoke :acquire [nil nil]
3 :ok :acquire [nil nil]
4 :invoke :acquire [1 nil]
4 :info :acquire :timeout
5 :invoke :acquire [1 nil]
5 :fail :acquire [1 :busy]`, Mutex, "1 legal; 1.0 legal; [1 2] legal; nil legal"},
	{"tagged tuples", `
0 :invoke :write #jepsen.independent.Tuple[1 5]
0 :ok :write #jepsen.independent.Tuple[1 5]
1 :invoke :write #clojure.lang.MapEntry[2 6]
1 :ok :write [2 6]
1 :invoke :read [2 nil]
1 :ok :read [2 5]`, Register, "1 untested; 2 illegal 5-6"},
	{"one register whose values are pairs", `
0 :invoke :write [1 5]
0 :ok :write [1 5]
1 :invoke :read nil
1 :ok :read [1 5]`, Register, "legal"},
	{"one register of pairs, swapped", `
0 :invoke :write [1 5]
0 :ok :write [1 5]
1 :invoke :cas [[1 5] [2 nil]]
1 :ok :cas [[1 5] [2 nil]]
1 :invoke :read nil
1 :ok :read [1 5]`, CASRegister, "illegal 1-2 3-4 5-6"},
	{"pairs that nothing is held against", `
0 :invoke :write [1 5]
0 :ok :write [1 5]`, CASRegister, "untested"},
	{"nothing", "", Mutex, "untested"},
}

func spellParts(parts []Part, results []Result) string {
	var all []string
	for i, r := range results {
		text := string(r.Answer)
		switch {
		case r.Untested:
			text = "untested"
		case r.Answer == Illegal:
			text += " " + places(r.Counterexample)
		}
		if parts[i].Keyed {
			text = parts[i].Key.String() + " " + text
		}
		all = append(all, text)
	}
	return strings.Join(all, "; ")
}

func TestEachKeyIsJudgedAlone(t *testing.T) {
	for _, test := range keyedHistories {
		parts, err := Split(test.model, recorded(t, test.history))
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		results, err := CheckEach(test.model, parts, DefaultSteps)
		if got := spellParts(parts, results); err != nil || got != test.want {
			t.Errorf("%s: %s, %v; want %s", test.name, got, err, test.want)
		}
	}
}

func TestKeysThatCannotBeToldAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		model         *Model
		history, want string
	}{
		"some without": {Mutex, "0 :invoke :acquire [7 nil]\n1 :invoke :acquire nil\n", ":2: this :acquire has no key, but the :acquire of line 1 has one"},
		"a write without": {Register, "0 :invoke :read [7 nil]\n1 :invoke :read [7 nil]\n2 :invoke :write 3\n",
			":3: this :write has no key, but the :read of line 1 has one"},
		"a swap without": {CASRegister, "0 :invoke :cas [1 2]\n1 :invoke :read [7 nil]\n", ":1: this :cas has no key, but the :read of line 2 has one"},
		"an answer without": {Register, "0 :invoke :read [7 nil]\n0 :ok :read 3\n",
			`:2: this :read was asked for the key "7" (line 1), and its answer "3" has another or none`},
		"an answer of another": {Register, "0 :invoke :read [7 nil]\n0 :ok :read [8 3]\n", `:2: this :read was asked for the key "7" (line 1), and its answer "[8 3]"`},
		"the key as a float":   {Mutex, "0 :invoke :acquire [7 nil]\n0 :ok :acquire [7.0 nil]\n", ":2: this :acquire was asked for the key"},
		"a tuple of three":     {Mutex, "0 :invoke :acquire #jepsen.independent.Tuple[1 2 3]\n", ":1: the value of this :acquire is no tuple [key value]"},
		"a vector of three":    {Mutex, "0 :invoke :acquire [7 nil]\n1 :invoke :release [7 nil 1]\n", ":2: this :release has no key"},
		"swaps that may be either": {CASRegister, "0 :invoke :write [1 2]\n0 :ok :write [1 2]\n0 :invoke :cas [1 [2 3]]\n0 :ok :cas [1 [2 3]]\n",
			":1: the value of this :write may be one value or [key value], and no operation shows which"},
		"reads of versions": {Register, "0 :invoke :write [1 [nil 2]]\n0 :ok :write [1 [5 2]]\n0 :invoke :read [1 [nil nil]]\n0 :ok :read [1 [5 2]]\n",
			":1: the value of this :write may be one value or [key value]"},
		"operations of another model": {Mutex, "0 :invoke :acquire [7 nil]\n0 :ok :acquire [7 nil]\n0 :invoke :txn [7 nil]\n", `:3: operations that the model mutex does not know: ":txn" (1)`},
	} {
		parts, err := Split(c.model, recorded(t, c.history))
		var wrong *jepsen.Mistake
		if !errors.As(err, &wrong) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, %v; want %s", name, parts, err, c.want)
		}
	}
}

// What a key leaves of the steps is there for the next, and one that takes many has not taken them from the others.
func TestKeysShareTheSteps(t *testing.T) {
	var text strings.Builder
	for i := range 30 {
		fmt.Fprintf(&text, "%d :invoke :write [1 %d]\n", i, i)
	}
	for i := range 30 {
		fmt.Fprintf(&text, "%d :ok :write [1 %d]\n", i, i)
	}
	for i := range 4 {
		fmt.Fprintf(&text, "99 :invoke :read [1 nil]\n99 :ok :read [1 %d]\n", i%2)
	}
	text.WriteString("0 :invoke :read [2 nil]\n0 :ok :read [2 5]\n")
	parts, err := Split(Register, recorded(t, text.String()))
	if err != nil {
		t.Fatal(err)
	}
	results, err := CheckEach(Register, parts, 3000)
	if err != nil || len(results) != 2 || results[0].Answer != Undecided || results[0].Untested || results[1].Answer != Illegal {
		t.Fatalf("%+v, %v", results, err)
	}
}
