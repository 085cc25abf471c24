package models

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"lockcheck/checker/foreign/jepsen"
)

// lines are places in a history: "1-3 5" is an operation of lines 1 to 3 and one of line 5 that has no completion.
func places(ops []jepsen.Operation) string {
	var all []string
	for _, op := range ops {
		text := fmt.Sprint(op.Line)
		if op.EndLine != 0 {
			text += fmt.Sprint("-", op.EndLine)
		}
		all = append(all, text)
	}
	return strings.Join(all, " ")
}

const (
	yes     = Legal
	no      = Illegal
	unheard = Undecided
)

// Tiny histories, an event a line (process, type, function, value), and what each model says of them. The
// counterexample is the first model's that says no.
var named = []struct {
	name    string
	history string
	models  string // which, in the order of the answers
	answers []Answer
	counter string
}{
	{"no operations", "", "mutex owner-mutex fenced-mutex", []Answer{unheard, unheard, unheard}, ""},
	{"one after the other", `
0 :invoke :acquire nil
0 :ok :acquire 1
0 :invoke :release nil
0 :ok :release nil
1 :invoke :acquire nil
1 :ok :acquire 2`, "mutex owner-mutex fenced-mutex", []Answer{yes, yes, yes}, ""},
	{"two at once", `
0 :invoke :acquire nil
0 :ok :acquire nil
1 :invoke :acquire nil
1 :ok :acquire nil`, "mutex owner-mutex", []Answer{no, no}, "1-2 3-4"},
	{"granted while the release is under way", `
0 :invoke :acquire nil
0 :ok :acquire nil
0 :invoke :release nil
1 :invoke :acquire nil
1 :ok :acquire nil
0 :ok :release nil`, "mutex owner-mutex", []Answer{yes, yes}, ""},
	{"granted before the release was asked for, while waiting", `
0 :invoke :acquire nil
1 :invoke :acquire nil
0 :ok :acquire nil
1 :ok :acquire nil
0 :invoke :release nil
0 :ok :release nil`, "mutex owner-mutex", []Answer{no, no}, "1-3 2-4"},
	{"the release that may have happened", `
0 :invoke :acquire nil
0 :ok :acquire nil
0 :invoke :release nil
0 :info :release :timeout
1 :invoke :acquire nil
1 :ok :acquire nil`, "mutex owner-mutex", []Answer{yes, yes}, ""},
	{"the release that failed", `
0 :invoke :acquire nil
0 :ok :acquire nil
0 :invoke :release nil
0 :fail :release nil
1 :invoke :acquire nil
1 :ok :acquire nil`, "mutex owner-mutex", []Answer{no, no}, "1-2 5-6"},
	{"the acquire that may have happened keeps no other out", `
0 :invoke :acquire nil
0 :info :acquire nil
1 :invoke :acquire nil
1 :ok :acquire nil
1 :invoke :release nil
1 :ok :release nil`, "mutex owner-mutex", []Answer{yes, yes}, ""},
	{"an acquire of unknown outcome explains the release", `
0 :invoke :acquire nil
1 :invoke :release nil
1 :ok :release nil
2 :invoke :acquire nil
2 :ok :acquire nil`, "mutex owner-mutex", []Answer{yes, no}, "2-3"},
	{"another's release", `
0 :invoke :acquire nil
0 :ok :acquire nil
1 :invoke :release nil
1 :ok :release nil
1 :invoke :acquire nil
1 :ok :acquire nil`, "mutex owner-mutex", []Answer{yes, no}, "3-4"},
	{"released twice", `
0 :invoke :acquire nil
0 :ok :acquire nil
0 :invoke :release nil
0 :ok :release nil
0 :invoke :release nil
0 :ok :release nil
1 :invoke :acquire nil
1 :ok :acquire nil`, "mutex owner-mutex", []Answer{no, no}, "3-4 5-6"},
	{"acquired again by its holder", `
0 :invoke :acquire nil
0 :ok :acquire nil
0 :invoke :acquire nil
0 :ok :acquire nil`, "mutex owner-mutex", []Answer{no, no}, "1-2 3-4"},
	// As in a public history of etcd with paused servers: the holder's lease had run out, its release was told so.
	{"lease not found", `
3 :invoke :acquire nil
3 :ok :acquire nil
0 :invoke :acquire nil
3 :invoke :release nil
0 :ok :acquire nil
0 :invoke :release nil
1 :invoke :acquire nil
3 :fail :release nil [:not-found "requested lease not found"]
1 :ok :acquire nil
0 :fail :release nil [:not-found "requested lease not found"]`, "mutex owner-mutex", []Answer{no, no}, "1-2 3-5"},
	{"tokens rise, and an invalid one says nothing", `
0 :invoke :acquire nil
0 :ok :acquire 5
0 :invoke :release nil
0 :ok :release nil
1 :invoke :acquire nil
1 :ok :acquire 0
1 :invoke :release nil
1 :ok :release nil
0 :invoke :acquire nil
0 :ok :acquire 10000000000000000000000`, "fenced-mutex", []Answer{yes}, ""},
	{"a token goes back behind an invalid one", `
0 :invoke :acquire nil
0 :ok :acquire {:fence 10}
0 :invoke :release nil
0 :ok :release nil
1 :invoke :acquire nil
1 :ok :acquire {:token "0"}
1 :invoke :release nil
1 :ok :release nil
0 :invoke :acquire nil
0 :ok :acquire {:token "9"}`, "owner-mutex fenced-mutex", []Answer{yes, no}, "1-2 3-4 9-10"},
	{"a token given twice", `
0 :invoke :acquire nil
0 :ok :acquire 5
0 :invoke :release nil
1 :invoke :acquire nil
1 :ok :acquire 5
0 :ok :release nil`, "owner-mutex fenced-mutex", []Answer{yes, no}, "1-2 3-6 4-5"},
	{"the question's value is no token", `
0 :invoke :acquire 9
0 :ok :acquire 9
0 :invoke :release 8
0 :ok :release 8
1 :invoke :acquire 7
1 :ok :acquire 7`, "owner-mutex fenced-mutex", []Answer{yes, unheard}, ""},
	{"one client in two processes", `
0 :invoke :acquire 1
0 :ok :acquire {:client "a" :fence 3 :uid 1}
1 :invoke :release 2
1 :ok :release {:client "a" :fence 0 :uid 2}`, "owner-mutex fenced-mutex", []Answer{yes, yes}, ""},
	{"two clients in one process", `
0 :invoke :acquire 1
0 :ok :acquire {:client "a" :fence 3 :uid 1}
0 :invoke :release 2
0 :ok :release {:client "b" :fence 0 :uid 2}`, "owner-mutex", []Answer{no}, "3-4"},
	{"one client, its release under way beside its acquire", `
0 :invoke :acquire {:client "a"}
1 :invoke :release {:client "a"}
1 :ok :release {:client "a"}
0 :ok :acquire {:client "a"}
2 :invoke :acquire {:client "b"}
2 :ok :acquire {:client "b"}`, "owner-mutex fenced-mutex", []Answer{yes, unheard}, ""},
	{"a release without a known owner", `
0 :invoke :acquire 1
0 :ok :acquire {:client "a" :fence 3 :uid 1}
1 :invoke :release 2
2 :invoke :acquire 3
2 :ok :acquire {:client "b" :fence 4 :uid 3}`, "owner-mutex fenced-mutex", []Answer{yes, yes}, ""},
	{"read what was written", `
0 :invoke :write 1
0 :ok :write 1
1 :invoke :read nil
1 :ok :read 1`, "register cas-register", []Answer{yes, yes}, ""},
	{"read what was never written", `
0 :invoke :write 1
0 :ok :write 1
1 :invoke :read nil
1 :ok :read 2`, "register cas-register", []Answer{no, no}, "3-4"},
	{"read the past", `
0 :invoke :write 1
0 :ok :write 1
0 :invoke :write 2
0 :ok :write 2
1 :invoke :read nil
1 :ok :read 1`, "register cas-register", []Answer{no, no}, "1-2 3-4 5-6"},
	{"a write of unknown outcome, read much later", `
0 :invoke :write 1
0 :info :write 1
1 :invoke :write 2
1 :ok :write 2
2 :invoke :read nil
2 :ok :read 2
2 :invoke :read nil
2 :ok :read 1`, "register cas-register", []Answer{yes, yes}, ""},
	{"a write that failed is read", `
0 :invoke :write 1
0 :fail :write 1
1 :invoke :read nil
1 :ok :read 1`, "register cas-register", []Answer{no, no}, "3-4"},
	{"a write whose completion has the value", `
0 :invoke :write nil
0 :ok :write 5
1 :invoke :read nil
1 :ok :read 5`, "register cas-register", []Answer{yes, yes}, ""},
	{"a swap whose completion has other values", `
0 :invoke :write 0
0 :ok :write 0
1 :invoke :cas [5 1]
1 :ok :cas [0 1]
1 :invoke :read nil
1 :ok :read 1`, "cas-register", []Answer{yes}, ""},
	{"values are compared as values", `
0 :invoke :write {:a (1 2N) :b #{1 2}}
0 :ok :write nil
1 :invoke :read nil
1 :ok :read {:b #{2 1} :a [1 2]}`, "register", []Answer{yes}, ""},
	{"1 is not 1.0", `
0 :invoke :write 1
0 :ok :write 1
1 :invoke :read nil
1 :ok :read 1.0`, "register cas-register", []Answer{no, no}, "3-4"},
	{"1.0 is 1.00", `
0 :invoke :write 1.0
0 :ok :write 1.0
1 :invoke :read nil
1 :ok :read 1.00`, "register cas-register", []Answer{yes, yes}, ""},
	{"a map with the namespace of its keys before it", `
0 :invoke :write #:a{:b 1}
0 :ok :write #:a{:b 1}
1 :invoke :read nil
1 :ok :read {:a/b 1}`, "register", []Answer{yes}, ""},
	{"a map of another namespace", `
0 :invoke :write #:a{:b 1}
0 :ok :write #:a{:b 1}
1 :invoke :read nil
1 :ok :read {:b 1}`, "register", []Answer{no}, "3-4"},
	{"swapped from what it was not", `
0 :invoke :write 1
0 :ok :write 1
1 :invoke :cas [2 3]
1 :ok :cas [2 3]`, "cas-register", []Answer{no}, "3-4"},
	{"swapped twice from one value", `
0 :invoke :write 1
0 :ok :write 1
1 :invoke :cas [1 2]
2 :invoke :cas [1 3]
1 :ok :cas [1 2]
2 :ok :cas [1 3]`, "cas-register", []Answer{no}, "1-2 3-5 4-6"},
	{"swaps in a chain", `
0 :invoke :cas [nil 1]
1 :invoke :cas [1 2]
2 :invoke :cas [2 nil]
2 :ok :cas [2 nil]
0 :ok :cas [nil 1]
1 :ok :cas [1 2]`, "cas-register", []Answer{yes}, ""},
}

func TestNamedHistories(t *testing.T) {
	for _, test := range named {
		counter := test.counter
		for i, name := range strings.Fields(test.models) {
			m := Named(name)
			h, err := jepsen.Read(strings.NewReader(strings.TrimPrefix(test.history, "\n")), "h")
			if err != nil {
				t.Fatalf("%s: %v", test.name, err)
			}
			got, err := Check(m, h.Operations, DefaultSteps)
			if err != nil || got.Answer != test.answers[i] {
				t.Errorf("%s, %s: %s (%s), %v; want %s", test.name, name, got.Answer, got.Reason, err, test.answers[i])
				continue
			}
			if got.Answer != Undecided && got.ConfirmedBy != Porcupine {
				t.Errorf("%s, %s: not confirmed: %+v", test.name, name, got)
			}
			if got.Answer == Illegal && counter != "" {
				if places(got.Counterexample) != counter {
					t.Errorf("%s, %s: counterexample %s, want %s (%s)", test.name, name, places(got.Counterexample), counter, got.Reason)
				}
				counter = ""
			}
		}
	}
}

// With failures read as unknown the etcd history is legal: its verdict hangs on two answers of a client.
func TestLeaseNotFoundReadAsUnknown(t *testing.T) {
	for _, test := range named {
		if test.name != "lease not found" {
			continue
		}
		h, err := jepsen.Read(strings.NewReader(strings.TrimPrefix(test.history, "\n")), "h")
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range []*Model{Mutex, OwnerMutex} {
			if got, err := Check(m, jepsen.FailedAsInfo(h.Operations), DefaultSteps); err != nil || got.Answer != Legal {
				t.Errorf("%s: %+v, %v", m.Name, got, err)
			}
		}
		return
	}
	t.Fatal("the history is gone")
}

func TestWhatAModelRefuses(t *testing.T) {
	for name, c := range map[string]struct{ model, history, want string }{
		"unknown operations": {"mutex", "0 :invoke :acquire nil\n1 :invoke :read nil\n2 :invoke :txn nil\n2 :ok :txn nil\n2 :invoke :txn nil\n",
			`:2: operations that the model mutex does not know: ":read" (1), ":txn" (2); it knows :acquire, :release (models: mutex, owner-mutex, fenced-mutex, register, cas-register)`},
		"even if they failed":       {"register", "0 :invoke :cas [1 2]\n0 :fail :cas [1 2]\n", `":cas" (1)`},
		"a swap of one":             {"cas-register", "0 :invoke :write 1\n1 :invoke :cas 1\n", ":2: the value of a :cas has to be [expected new]"},
		"a swap of three":           {"cas-register", "0 :invoke :cas [1 2 3]\n", ":1: the value of a :cas"},
		"many locks":                {"mutex", "0 :invoke :acquire [7 nil]\n", ":1: the value of :acquire is a vector"},
		"many registers":            {"register", "0 :invoke :read [7 nil]\n", ":1: this :read asks with [7 nil]"},
		"a token that is no number": {"fenced-mutex", "0 :invoke :acquire nil\n0 :ok :acquire {:fence \"x1\"}\n", ":1: the token of an :acquire has to be a whole number"},
		"half a token":              {"fenced-mutex", "0 :invoke :acquire nil\n0 :ok :acquire 1.5\n", ":1: the token of an :acquire has to be a whole number"},
		"an endless token":          {"fenced-mutex", "0 :invoke :acquire nil\n0 :ok :acquire 1" + strings.Repeat("0", 90) + "\n", "more than 80 digits"},
	} {
		h, err := jepsen.Read(strings.NewReader(c.history), "h")
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		_, err = Check(Named(c.model), h.Operations, DefaultSteps)
		var wrong *jepsen.Mistake
		if !errors.As(err, &wrong) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want %s", name, err, c.want)
		}
	}
}

func TestManyUnknownOperationsAreNotAllNamed(t *testing.T) {
	var ops []jepsen.Operation
	for i := range 100 {
		ops = append(ops, jepsen.Operation{F: fmt.Sprint("f", i), Line: i + 1})
	}
	_, err := Check(Mutex, ops, DefaultSteps)
	if err == nil || !strings.Contains(err.Error(), "and 80 more") || len(err.Error()) > 1000 {
		t.Errorf("%v", err)
	}
}

// A search that runs out says so, with every history.
func TestOutOfSteps(t *testing.T) {
	var text strings.Builder
	for i := range 30 {
		fmt.Fprintf(&text, "%d :invoke :write %d\n", i, i)
	}
	for i := range 30 {
		fmt.Fprintf(&text, "%d :ok :write %d\n", i, i)
	}
	for i := range 4 {
		fmt.Fprintf(&text, "99 :invoke :read nil\n99 :ok :read %d\n", i%2)
	}
	h, err := jepsen.Read(strings.NewReader(text.String()), "h")
	if err != nil {
		t.Fatal(err)
	}
	got, err := Check(Register, h.Operations, 1000)
	if err != nil || got.Answer != Undecided || !strings.Contains(got.Reason, "needs more steps or memory") || got.ConfirmedBy != "" {
		t.Errorf("%+v, %v", got, err)
	}
}

// Reads of nil say nothing, unless they are taken to say that nothing was written: then it is said, and not judged.
func TestReadsOfNil(t *testing.T) {
	h, err := jepsen.Read(strings.NewReader("0 :invoke :write 1\n0 :ok :write 1\n0 :invoke :read nil\n0 :ok :read nil\n0 :invoke :read nil\n0 :ok :read 1\n"), "h")
	if err != nil {
		t.Fatal(err)
	}
	got, err := Check(Register, h.Operations, DefaultSteps)
	if err != nil || got.Answer != Legal || len(got.Notes) != 1 || !strings.Contains(got.Notes[0], "never written") {
		t.Errorf("%+v, %v", got, err)
	}
}

// The confirmation of an order is no rubber stamp.
func TestOrdersThatAreNoneAreNotConfirmed(t *testing.T) {
	a := &op{call: 1, ret: 4, step: acquire}
	b := &op{call: 5, ret: jepsen.Never, step: release, optional: true}
	for name, c := range map[string]struct {
		order []placed
		want  Answer
	}{
		"a hold":                                {[]placed{{a, 4}, {b, 5}}, Legal},
		"acquired after its answer":             {[]placed{{a, 5}, {b, 6}}, Illegal},
		"acquired before it was asked for":      {[]placed{{a, 0}, {b, 6}}, Illegal},
		"released first, for what it was worth": {[]placed{{b, 5}}, Illegal},
		"acquired twice":                        {[]placed{{a, 2}, {&op{call: 1, ret: 9, step: acquire}, 3}}, Illegal},
	} {
		s := newSearcher(DefaultSteps)
		if got := s.confirm(mutex.machine, c.order); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
