package models

import (
	"fmt"

	"github.com/anishathalye/porcupine"

	"lockcheck/checker/foreign/jepsen"
	"lockcheck/checker/history"
)

// BeginsAs is the model of a register that holds a value before anything is written to it; registers hold nil unless told
// otherwise. It is an error for a model that is no register.
func (m *Model) BeginsAs(value jepsen.Value) (*Model, error) {
	if m.initial == "" {
		return nil, fmt.Errorf("the model %s has no initial value: only registers have (%s, %s)", m.Name, Register.Name, CASRegister.Name)
	}
	begun := m.begun(value.String())
	if m.stricter != nil {
		begun.stricter = m.stricter.begun(value.String())
	}
	begun.note = blindNote(begun.initial)
	return begun, nil
}

func (m *Model) begun(initial string) *Model {
	begun := *m
	begun.initial, begun.machine = initial, beginning(m.machine, initial)
	return &begun
}

// Initial is the value that a register begins with, as EDN; "" for a model that is no register.
func (m *Model) Initial() string { return m.initial }

func beginning(machine porcupine.Model, state any) porcupine.Model {
	machine.Init = func() any { return state }
	return machine
}

func blindNote(initial string) string {
	means := `"never written"`
	if initial != nothing {
		means = "the value nil"
	}
	return "reads that found nil are taken to say nothing, as Jepsen's models do; taken as " + means + " they make this a violation"
}

// wrongBeginning finds out whether a contradiction is one of the initial value alone: a history that has no order, but has
// one if the register began with a value that an operation of the witness found. It is asked of the shortest beginning of
// a history that has no order, before it is made smaller: what was overwritten is no longer the initial value, and the
// write that says so may be missing in the witness. Of several values that would do, one that explains the whole history
// is the better guess.
func (j *judge) wrongBeginning(ops, shortest []op, witness []*op, all []jepsen.Operation) (found *op) {
	tried := map[string]bool{j.m.initial: true}
	for _, o := range witness {
		if o.step == write || o.blind || all[o.src].Outcome != history.OK || tried[o.finds] {
			continue
		}
		tried[o.finds] = true
		if j.orderFrom(o.finds, pointers(shortest)) != Legal {
			continue
		}
		if j.orderFrom(o.finds, pointers(ops)) == Legal {
			return o
		}
		if found == nil {
			found = o
		}
	}
	return found
}

func beginningReason(o *op, process, initial string) string {
	did := "read " + o.finds
	if o.step == swap {
		did = fmt.Sprintf("swapped %s for %s", o.finds, o.leaves)
	}
	return fmt.Sprintf("process %s %s although the register began as %s", process, did, initial)
}
