package models

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"lockcheck/checker/foreign/jepsen"
	"lockcheck/checker/history"
)

// thing is an object written down once more, for clarity: it knows no machines, no owners of owners, no Porcupine.
type thing struct {
	held  bool
	owner string
	token int
	value string
}

// does reports whether an operation that happened fits, and what it leaves.
func (s thing) does(model string, o jepsen.Operation) (thing, bool) {
	switch o.F {
	case "acquire":
		token := 0
		if model == "fenced-mutex" && o.Outcome == history.OK {
			token, _ = strconv.Atoi(o.Output.Text())
		}
		if s.held || token > 0 && token <= s.token {
			return s, false
		}
		return thing{held: true, owner: ownerOf(o), token: max(token, s.token)}, true
	case "release":
		if !s.held || model != "mutex" && s.owner != ownerOf(o) {
			return s, false
		}
		return thing{token: s.token}, true
	case "read":
		return s, o.Outcome != history.OK || o.Output.IsNil() || o.Output.String() == s.value
	case "write":
		return thing{value: o.Input.String()}, true
	default:
		from, to := o.Input.Items()[0], o.Input.Items()[1]
		return thing{value: to.String()}, from.String() == s.value
	}
}

func ownerOf(o jepsen.Operation) string {
	return cmp.Or(o.Input.Get("client").Text(), o.Process)
}

// explained tries every order of what is left, and every choice of what of unknown outcome happened. Nothing may come
// after an operation that was only called when it was over; latest is the last such call.
func explained(model string, s thing, left []jepsen.Operation, latest int64) bool {
	must := slices.ContainsFunc(left, func(o jepsen.Operation) bool { return o.Outcome == history.OK })
	if !must {
		return true
	}
	for i, o := range left {
		if o.Return < latest || slices.ContainsFunc(left, func(before jepsen.Operation) bool {
			return before.Outcome == history.OK && before.Return < o.Call
		}) {
			continue
		}
		next, fits := s.does(model, o)
		if fits && explained(model, next, append(slices.Clone(left[:i]), left[i+1:]...), max(latest, o.Call)) {
			return true
		}
	}
	return false
}

func oracle(model string, ops []jepsen.Operation) bool { return oracleFrom("nil", model, ops) }

// oracleFrom is the oracle of a register that begins with a value.
func oracleFrom(initial, model string, ops []jepsen.Operation) bool {
	var took []jepsen.Operation
	for _, o := range ops {
		if o.Outcome != history.Fail {
			took = append(took, o)
		}
	}
	return explained(model, thing{value: initial}, took, 0)
}

// explainedUntil is where the explained beginning of a history ends: with the place of the first answer that no order from
// an initial value explains, and the history up to there.
func explainedUntil(initial, model string, ops []jepsen.Operation) (cut []jepsen.Operation) {
	var ends []int64
	for _, o := range ops {
		if o.Outcome == history.OK {
			ends = append(ends, o.Return)
		}
	}
	slices.Sort(ends)
	for _, end := range ends {
		cut = nil
		for _, o := range ops {
			if o.Return > end && o.Outcome != history.Fail {
				o.Outcome, o.Return = history.Info, jepsen.Never
			}
			if o.Call < end {
				cut = append(cut, o)
			}
		}
		if !oracleFrom(initial, model, cut) {
			return cut
		}
	}
	return nil
}

// without is the history in which only some operations have to have happened: all others, in their own time, or not.
func without(ops, kept []jepsen.Operation) []jepsen.Operation {
	freed := slices.Clone(ops)
	for i := range freed {
		if o := &freed[i]; o.Outcome == history.OK && !slices.ContainsFunc(kept, func(k jepsen.Operation) bool { return k.Call == o.Call }) {
			o.Outcome = history.Info
		}
	}
	return freed
}

func number(n int) jepsen.Value {
	v, err := jepsen.ParseValue(strconv.Itoa(n))
	if err != nil {
		panic(err)
	}
	return v
}

// random makes a history of a real object that sometimes lies: it forgets, grants twice, answers what is not so. With
// again, processes go on after an operation of unknown outcome, which Jepsen's own do not. A register begins as initial.
func random(r *rand.Rand, model string, again bool, initial string) []jepsen.Operation {
	liar := r.IntN(5) > 0
	type client struct {
		name   string
		at     int // its operation under way; -1
		done   bool
		answer history.Type
		output jepsen.Value
		holds  bool
	}
	clients, names := make([]client, 2+r.IntN(2)), 0
	for i := range clients {
		clients[i] = client{name: fmt.Sprint("p", i), at: -1}
		names++
	}
	shared := strings.Contains(model, "-mutex") && r.IntN(4) == 0 // two processes are one client
	var ops []jepsen.Operation
	s, now := thing{value: initial}, int64(0)
	for range 14 + r.IntN(26) {
		i := r.IntN(len(clients))
		c := &clients[i]
		switch {
		case c.at < 0: // ask
			if len(ops) == 7 {
				continue
			}
			o := jepsen.Operation{Process: c.name, Outcome: history.Info, Return: jepsen.Never}
			switch {
			case strings.Contains(model, "mutex"):
				o.F = "acquire"
				if c.holds != (r.IntN(8) == 0) {
					o.F = "release"
				}
			case model == "cas-register" && r.IntN(3) == 0:
				o.F = "cas"
				o.Input, _ = jepsen.ParseValue(fmt.Sprintf("[%d %d]", r.IntN(3), r.IntN(3)))
			case r.IntN(2) == 0:
				o.F, o.Input = "write", number(r.IntN(3))
			default:
				o.F = "read"
			}
			if shared {
				o.Input, _ = jepsen.ParseValue(`{:client "` + "ab"[i%2:i%2+1] + `"}`)
			}
			now++
			o.Call, o.Line = now, int(now)
			c.at, c.done = len(ops), false
			ops = append(ops, o)
		case !c.done: // take effect
			o := ops[c.at]
			lie := liar && r.IntN(3) == 0
			sure := o
			sure.Outcome = history.Info
			next, fits := s.does(model, sure)
			c.answer, c.output = history.OK, jepsen.Value{}
			switch {
			case o.F == "read" && s.value != "nil":
				c.output, _ = jepsen.ParseValue(s.value)
				if lie {
					c.output = number(r.IntN(3))
				}
			case !fits && !lie:
				if o.F == "acquire" && r.IntN(3) > 0 {
					continue // it waits
				}
				c.answer = history.Fail
			case fits && lie && o.F == "release":
				// it answers and forgets
			case fits:
				if s = next; o.F == "acquire" {
					s.token++
				}
				if lie && r.IntN(2) == 0 {
					c.answer = history.Fail // happened, and is denied
				}
			}
			if c.done = true; model == "fenced-mutex" && o.F == "acquire" {
				switch token := s.token; {
				case lie:
					c.output = number(max(0, token-r.IntN(2)))
				case r.IntN(4) > 0:
					c.output = number(token)
				default:
					c.output = number(0)
				}
			}
		default: // answer
			now++
			o := &ops[c.at]
			if o.Outcome = c.answer; r.IntN(9) == 0 {
				o.Outcome = history.Info
			}
			o.EndLine = int(now)
			if o.Outcome != history.Info {
				o.Return, o.Output = now, c.output
			}
			c.at = -1
			if o.Outcome == history.OK {
				c.holds = o.F == "acquire"
			}
			if o.Outcome == history.Info {
				if c.holds = o.F == "acquire" && again; !again {
					c.name = fmt.Sprint("p", names)
					names++
				}
			}
		}
	}
	return ops
}

// histories is how many random histories a model is tried with: LOCKCHECK_HISTORIES, or else few of them, and fewer under the race detector.
func histories(t *testing.T) int {
	n, err := strconv.Atoi(cmp.Or(os.Getenv("LOCKCHECK_HISTORIES"), "400"))
	if err != nil || n < 1 {
		t.Fatalf("LOCKCHECK_HISTORIES has to be a positive number: %v", err)
	}
	if raceDetector {
		n = min(n, 40)
	}
	return n
}

// Every model against the oracle, and its exact rule against Porcupine. A counterexample has to be one by itself, without the
// operations that were left out.
func TestModelsAgreeWithTheOracle(t *testing.T) {
	n := histories(t)
	for _, m := range All() {
		t.Run(m.Name, func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(uint64(len(m.Name)), 11))
			seen := map[Answer]int{}
			exact, unknown, dropped, whole := 0, 0, 0, 0
			for i := range n {
				ops := random(r, m.Name, i%4 == 0, "nil")
				if i%7 == 0 {
					ops = jepsen.FailedAsInfo(ops)
				}
				want := Legal
				if !oracle(m.Name, ops) {
					want = Illegal
				}
				unexposed := *m
				unexposed.exposed = func([]op) string { return "" }
				got, err := Check(&unexposed, ops, DefaultSteps)
				if err != nil || got.Answer != want {
					t.Fatalf("history %d: %v, %s (%s), want %s:%s", i, err, got.Answer, got.Reason, want, spell(ops))
				}
				if got.ConfirmedBy != Porcupine {
					t.Fatalf("history %d: not confirmed: %+v%s", i, got, spell(ops))
				}
				seen[want]++
				if slices.ContainsFunc(ops, func(o jepsen.Operation) bool { return o.Outcome == history.Info }) {
					unknown++
				}
				decoded, err := m.decode(ops)
				if err != nil {
					t.Fatal(err)
				}
				if d, ok := decide(m, decoded); ok {
					exact++
					s := newSearcher(DefaultSteps)
					if second := s.order(m.machine, m.machine.Init(), pointers(decoded)); second != d.answer {
						t.Fatalf("history %d: exact %s, Porcupine on the whole %s:%s", i, d.answer, second, spell(ops))
					}
					if m == Mutex && strings.HasSuffix(d.reason, "up to here") {
						whole++
					}
				}
				if want == Illegal {
					if len(got.Counterexample) == 0 || got.Reason == "" || oracle(m.Name, got.Counterexample) || oracle(m.Name, without(ops, got.Counterexample)) {
						t.Fatalf("history %d: the counterexample is none (%s):%s\nof%s", i, got.Reason, spell(got.Counterexample), spell(ops))
					}
					dropped += len(ops) - len(got.Counterexample)
				}
			}
			t.Logf("%d histories: %v; %d by the exact rule; %d with unknown outcomes; %d operations left out of counterexamples, %d of which are the whole beginning", n, seen, exact, unknown, dropped, whole)
			if min(seen[Legal], seen[Illegal]) < n/10 || unknown < n/10 {
				t.Errorf("one-sided: %v, %d with unknown outcomes", seen, unknown)
			}
			if whole > n/1000 {
				t.Errorf("%d counterexamples are the whole beginning: no stretch of time explains them", whole)
			}
			if m.exact != nil && exact < n/3 {
				t.Errorf("the exact rule decided only %d", exact)
			}
		})
	}
}

func spell(ops []jepsen.Operation) (text string) {
	for _, o := range ops {
		text += fmt.Sprintf("\n[%d,%d] %s %s %s %s → %s", o.Call, o.Return, o.Process, o.F, o.Outcome, o.Input, o.Output)
	}
	return text
}

// A greater budget is no use without the memory that its steps take.
func TestAGreaterBudgetHasMoreMemory(t *testing.T) {
	if usual, more, less := newSearcher(DefaultSteps), newSearcher(3*DefaultSteps), newSearcher(7); usual.room != maxCache || less.room != maxCache || more.room != 3*maxCache {
		t.Errorf("%d, %d and %d bytes", usual.room, more.room, less.room)
	}
}
