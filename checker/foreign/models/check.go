package models

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"lockcheck/checker/foreign/jepsen"
	"lockcheck/checker/history"
)

// Result is what Check came to.
type Result struct {
	Model  string
	Answer Answer
	// Reason says in a sentence what the contradiction is, or why there is no answer.
	Reason string
	// Counterexample are operations that have no order by themselves, chosen so that the rest of the history cannot help
	// them. In the order of their calls; only of an illegal history.
	Counterexample []jepsen.Operation
	// Initial is, where the contradiction is one of a register's initial value alone, a value with which there would be none
	// yet (EDN). Reason says that, then, and the Counterexample shows it.
	Initial        string
	Untested       bool   // undecided because there is nothing to judge; Reason says what is missing
	Exact          bool   // the answer comes from an exact rule
	ConfirmedBy    string // the independent judge that came to the same answer; "" if an exact rule was not confirmed
	Notes          []string
	OK, Fail, Info int
}

// Defect is a disagreement of the exact rule with Porcupine: a bug of lockcheck, and no answer.
type Defect struct{ text string }

func (d *Defect) Error() string {
	return d.text + "; this is a bug in lockcheck, please report it with the history"
}

// Porcupine is how results name the independent judge.
const Porcupine = "porcupine"

// Check judges a history by a model, trying at most so many steps (see DefaultSteps). The operations need places (Call,
// Return) that all differ, as jepsen.Read gives them. An error is a *jepsen.Mistake where the history is not one of this
// model, or a *Defect.
func Check(m *Model, all []jepsen.Operation, steps int) (Result, error) {
	result, _, err := check(m, all, steps)
	return result, err
}

// check says, too, how many of the steps are left.
func check(m *Model, all []jepsen.Operation, steps int) (result Result, left int, err error) {
	j := judge{m: m, s: newSearcher(steps)}
	result, err = j.check(all)
	return result, j.s.left, err
}

func (j *judge) check(all []jepsen.Operation) (Result, error) {
	m, result := j.m, Result{Model: j.m.Name}
	for i := range all {
		switch all[i].Outcome {
		case history.OK:
			result.OK++
		case history.Fail:
			result.Fail++
		default:
			result.Info++
		}
	}
	ops, err := m.decode(all)
	if err != nil {
		return Result{}, err
	}
	if d, ok := decide(m, ops); ok {
		result.Exact = true
		err = j.exactly(d, &result, all)
	} else {
		j.search(ops, &result, all)
	}
	if err != nil || result.Answer != Legal {
		if m == Mutex && err == nil && len(result.Counterexample) > readable {
			result.Notes = append(result.Notes, withOwners(all)...)
		}
		return result, err
	}
	if missing := m.exposed(ops); missing != "" {
		result.Answer, result.Reason, result.ConfirmedBy, result.Untested = Undecided, missing, "", true
		return result, nil
	}
	if m.stricter != nil {
		strict, err := m.stricter.decode(all)
		if err == nil && j.order(pointers(strict)) == Illegal {
			result.Notes = append(result.Notes, m.note)
		}
	}
	return result, nil
}

// readable is how many operations of a counterexample a reader can follow.
const readable = 8

// withOwners is what the same history shows of a lock with owners. A mutex without them is often contradicted by nothing
// less than a long count of acquires and releases, any of which may have freed it; with owners two holds suffice.
func withOwners(all []jepsen.Operation) []string {
	ops, err := OwnerMutex.decode(all)
	if err != nil {
		return nil
	}
	d, ok := tenures(ops, false)
	if !ok || d.answer != Illegal {
		return nil
	}
	where := make([]string, len(d.witness))
	for i, o := range originals(d.witness, all) {
		where[i] = fmt.Sprint(o.Line)
	}
	return []string{fmt.Sprintf("as %s it takes %s to see it: %s (asked for on lines %s)", OwnerMutex.Name, history.Counted(len(d.witness), "operation", "operations"), d.reason, strings.Join(where, ", "))}
}

func decide(m *Model, ops []op) (decision, bool) {
	if m.exact == nil {
		return decision{}, false
	}
	return m.exact(ops)
}

type judge struct {
	m *Model
	s searcher
}

// exactly takes the answer of an exact rule, and has it confirmed.
func (j *judge) exactly(d decision, result *Result, all []jepsen.Operation) error {
	result.Answer, result.Reason = d.answer, d.reason
	second := Undecided
	if d.answer == Legal {
		second = j.s.confirm(j.m.machine, d.order)
	} else {
		result.Counterexample = originals(d.witness, all)
		second = j.s.order(j.m.machine, j.m.machine.Init(), d.witness)
		if second == Illegal && d.held {
			second = j.s.order(j.m.machine, true, d.witness)
		}
	}
	switch second {
	case d.answer:
		result.ConfirmedBy = Porcupine
	case Undecided:
		result.Notes = append(result.Notes, "not confirmed by Porcupine: the search needs more steps than allowed")
	default:
		return &Defect{fmt.Sprintf("the exact rule for %s finds the history %s, and Porcupine disagrees (%s)", j.m.Name, d.answer, cmp.Or(d.reason, "an order in windows"))}
	}
	return nil
}

// search asks Porcupine alone.
func (j *judge) search(ops []op, result *Result, all []jepsen.Operation) {
	switch result.Answer = j.order(pointers(ops)); result.Answer {
	case Undecided:
		result.Reason = fmt.Sprintf("the search for an order of %d operations, %d of them of unknown outcome, needs more steps or memory than allowed; a greater --budget may do", len(ops), optional(ops))
	case Illegal:
		shortest := j.shortest(ops)
		witness := j.shrink(shortest)
		result.Counterexample = originals(witness, all)
		result.Reason = fmt.Sprintf("%s that no order of a %s explains", history.Counted(len(witness), "operation", "operations"), j.m.Name)
		if o := j.wrongBeginning(ops, shortest, witness, all); o != nil {
			result.Initial, result.Reason = o.finds, beginningReason(o, all[o.src].Process, j.m.initial)
		}
		result.ConfirmedBy = Porcupine
	case Legal:
		result.ConfirmedBy = Porcupine
	}
}

// order searches for one from the state that the model begins with.
func (j *judge) order(ops []*op) Answer { return j.orderFrom(j.m.machine.Init(), ops) }

// orderFrom searches without the operations of unknown outcome first: an order of the others is an order of all, as each
// of these may never have happened. Only if there is none are those added that could help.
func (j *judge) orderFrom(begin any, ops []*op) Answer {
	var sure, useful []*op
	plain := make([]op, len(ops))
	for i, o := range ops {
		plain[i] = *o
	}
	for i, idle := range j.m.idleOf(plain) {
		if !ops[i].optional {
			sure = append(sure, ops[i])
		}
		if !idle {
			useful = append(useful, ops[i])
		}
	}
	first := j.s.order(j.m.machine, begin, sure)
	if first != Illegal || len(useful) == len(sure) {
		return first
	}
	return j.s.order(j.m.machine, begin, useful)
}

func (m *Model) idleOf(ops []op) []bool {
	if m.idle == nil {
		return make([]bool, len(ops))
	}
	return m.idle(ops)
}

func optional(ops []op) (n int) {
	for i := range ops {
		if ops[i].optional {
			n++
		}
	}
	return n
}

func pointers(ops []op) []*op {
	all := make([]*op, len(ops))
	for i := range ops {
		all[i] = &ops[i]
	}
	return all
}

func originals(ops []*op, all []jepsen.Operation) []jepsen.Operation {
	found := make([]jepsen.Operation, len(ops))
	for i, o := range ops {
		found[i] = all[o.src]
	}
	slices.SortFunc(found, func(a, b jepsen.Operation) int { return cmp.Compare(a.Call, b.Call) })
	return found
}
