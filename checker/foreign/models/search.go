package models

import (
	"fmt"

	"github.com/anishathalye/porcupine"

	"lockcheck/checker/foreign/jepsen"
)

// DefaultSteps is the budget of one Check: steps of a model tried in all its searches together, some 10 s on one core. They
// count, so that the same history gives the same answer on every machine.
const DefaultSteps = 20_000_000

// maxCache bounds the memory of one search in bytes, within the usual budget. Porcupine keeps each state it has been in with one bit for every
// operation, so long histories get fewer steps.
const maxCache = 512 << 20

// Answer says whether some order explains a history.
type Answer string

// The answers.
const (
	Legal     Answer = "legal"
	Illegal   Answer = "illegal"
	Undecided Answer = "undecided"
)

// searcher asks Porcupine, within what is left of a budget.
type searcher struct {
	left int
	room int // in bytes, for one search
}

// newSearcher gives a budget beyond the usual one as much more memory, without which it could not be used up.
func newSearcher(steps int) searcher { return searcher{steps, maxCache * max(1, steps/DefaultSteps)} }

// order answers whether the operations have an order that a machine explains, beginning in a state.
func (s *searcher) order(m porcupine.Model, begin any, ops []*op) Answer {
	asked := make([]porcupine.Operation, len(ops))
	for i, o := range ops {
		asked[i] = porcupine.Operation{ClientId: i, Input: o, Call: o.call, Return: o.ret}
	}
	return s.ask(m, begin, asked)
}

// ask gives each search what is left of the budget, or what its memory allows. Out of it, the machine refuses every
// further step, which lets Porcupine come to its end quickly; what it says then means nothing.
func (s *searcher) ask(m porcupine.Model, begin any, asked []porcupine.Operation) Answer {
	allowed := min(s.left, s.room/(len(asked)/8+160))
	left, do := allowed, m.Step
	m.Init = func() any { return begin }
	m.Step = func(state, input, output any) (bool, any) {
		if left--; left < 0 {
			return false, state
		}
		return do(state, input, output)
	}
	ok := porcupine.CheckOperations(m, asked)
	s.left -= allowed - max(left, 0)
	switch {
	case left < 0:
		return Undecided
	case ok:
		return Legal
	}
	return Illegal
}

// windowed is how many operations one window of a long order has.
const windowed = 48

// confirm has Porcupine confirm an order in windows. Each is given the state that the order has at its beginning, and the
// intervals of its operations are clipped to it. Clipping only forbids orders, so orders of all windows one after the
// other are an order of the whole. What the order left out may never have happened.
func (s *searcher) confirm(m porcupine.Model, order []placed) Answer {
	state, from := m.Init(), int64(0)
	for len(order) > 0 {
		window, to := order[:min(windowed, len(order))], jepsen.Never
		if order = order[len(window):]; len(order) > 0 {
			to = order[0].at
		}
		asked := make([]porcupine.Operation, len(window))
		next := state
		for i, p := range window {
			clipped := *p.op
			clipped.optional = false // the order says that it took effect
			asked[i] = porcupine.Operation{ClientId: i, Input: &clipped, Call: max(p.op.call, from), Return: min(p.op.ret, to)}
			ok := asked[i].Call <= p.at && p.at <= asked[i].Return
			if ok {
				ok, next = m.Step(next, &clipped, nil)
			}
			if !ok {
				return Illegal
			}
		}
		if answer := s.ask(m, state, asked); answer != Legal {
			return answer
		}
		state, from = next, to
	}
	return Legal
}

// placed is an operation and the moment at which an order has it take effect.
type placed struct {
	op *op
	at int64
}

// decision is what an exact rule found.
type decision struct {
	answer  Answer
	order   []placed // legal: an order, in its own sequence; operations of unknown outcome that it does not need are missing
	witness []*op    // illegal: operations that have no order by themselves
	held    bool     // the witness has none even if the lock was held before it; only said of mutex
	reason  string
}

var verbs = map[step]string{acquire: "acquire", release: "release", read: "read", write: "write", swap: "cas"}

func (s step) String() string { return verbs[s] }

// describe is an operation in Porcupine's drawings.
func describe(input, _ any) string {
	o := input.(*op)
	text := o.step.String()
	switch o.step {
	case read:
		text += " → " + o.finds
	case write:
		text += " " + o.leaves
	case swap:
		text += fmt.Sprintf(" %s to %s", o.finds, o.leaves)
	}
	if o.optional {
		text = "perhaps " + text
	}
	return text
}
