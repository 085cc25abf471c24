package models

import (
	"hash/maphash"

	"github.com/anishathalye/porcupine"

	"lockcheck/checker/foreign/jepsen"
	"lockcheck/checker/history"
)

// nothing is what a register holds at first unless told otherwise.
var nothing = jepsen.Value{}.String()

// registerMachine is a register that holds a value: reads find it, writes change it, and a swap changes it where it is
// what the swap wanted. A swap that failed is no part of a history, so one that is there succeeded.
//
// A read that found nil says nothing, as in Jepsen's own models: nil is also what clients answer that did not find out.
// The stricter reading takes it for the value that was never written.
var registerMachine = porcupine.Model{
	Step: func(state, input, _ any) (bool, any) {
		value, o := state.(string), input.(*op)
		switch {
		case o.step == read:
			return o.blind || o.finds == value, value
		case o.step == write:
			return true, o.leaves
		case o.finds != value:
			return o.optional, value
		default:
			return true, o.leaves
		}
	},
	Hash:              func(state any) uint64 { return maphash.String(seed, state.(string)) },
	DescribeOperation: describe,
	DescribeState:     func(state any) string { return state.(string) },
}

func registerModel(name, doc string, functions map[string]func(*op, *jepsen.Operation) string) Model {
	m := Model{Name: name, Doc: doc, functions: functions, machine: beginning(registerMachine, nothing), initial: nothing, idle: idleWrites,
		units: unitsOfRegister, exposed: someRead, note: blindNote(nothing)}
	strict := m
	strict.functions = map[string]func(*op, *jepsen.Operation) string{}
	for f, decode := range functions {
		strict.functions[f] = decode
	}
	strict.functions["read"] = func(o *op, from *jepsen.Operation) string {
		wrong := readRead(o, from)
		o.blind = o.optional
		return wrong
	}
	m.stricter = &strict
	return m
}

var register = registerModel("register", "a register with :read and :write; nil at first unless told otherwise, and a read of nil says nothing",
	map[string]func(*op, *jepsen.Operation) string{"read": readRead, "write": readWrite})

var casRegister = registerModel("cas-register", "register with :cas, whose value is [expected new]",
	map[string]func(*op, *jepsen.Operation) string{"read": readRead, "write": readWrite, "cas": readSwap})

func readRead(o *op, from *jepsen.Operation) string {
	asked := from.Input.Untagged()
	if items := asked.Items(); asked.Kind() == jepsen.Vector && len(items) == 2 && items[1].IsNil() {
		return "this :read asks with " + asked.String() + ", and a register has nothing to ask with: values that are a version or a key and a value belong to another model"
	}
	o.step, o.finds = read, from.Output.String()
	o.blind = o.optional || from.Output.IsNil()
	return ""
}

func readWrite(o *op, from *jepsen.Operation) string {
	o.step, o.leaves = write, completed(from).String()
	return ""
}

// completed is what an operation wrote or swapped: the value of its completion counts, as Knossos reads it, where there is one.
func completed(o *jepsen.Operation) jepsen.Value {
	if o.Outcome == history.OK && !o.Output.IsNil() {
		return o.Output
	}
	return o.Input
}

func readSwap(o *op, from *jepsen.Operation) string {
	v := completed(from).Untagged()
	if v.Kind() != jepsen.Vector || len(v.Items()) != 2 {
		return "the value of a :cas has to be [expected new]"
	}
	o.step, o.finds, o.leaves = swap, v.Items()[0].String(), v.Items()[1].String()
	return ""
}

// finders counts the operations that need each value to be there.
func finders(ops []op, out []bool) map[string]int {
	found := map[string]int{}
	for i := range ops {
		if o := &ops[i]; !out[i] && (o.step == swap || o.step == read && !o.blind) {
			found[o.finds]++
		}
	}
	return found
}

// idleWrites: a write or swap whose value no operation finds can be taken out of any order. What comes next in the order and
// changes the value cannot be a swap (it would find the value), so it is a write, which does not mind what was there;
// and no read stands between the two. One that is taken out finds nothing any more, so more may follow. A read of unknown
// outcome says nothing.
func idleWrites(ops []op) []bool {
	idle := make([]bool, len(ops))
	for again := true; again; {
		again = false
		found := finders(ops, idle)
		for i := range ops {
			o := &ops[i]
			if idle[i] || !o.optional {
				continue
			}
			need := found[o.leaves]
			if o.step == swap && o.finds == o.leaves {
				need-- // its own
			}
			if o.step == read || need == 0 {
				idle[i], again = true, true
			}
		}
	}
	return idle
}

// unitsOfRegister: every read can be taken out of an order, and so can a write or swap whose value no operation finds (see
// idleWrites, which holds for those that succeeded as well).
func unitsOfRegister(ops []op) (units [][]int) {
	found := finders(ops, make([]bool, len(ops)))
	for i := range ops {
		o := &ops[i]
		need := found[o.leaves]
		if o.step == swap && o.finds == o.leaves {
			need--
		}
		if o.step == read || need == 0 {
			units = append(units, []int{i})
		}
	}
	return units
}

func someRead(ops []op) string {
	for i := range ops {
		if o := &ops[i]; !o.optional && (o.step == swap || o.step == read && !o.blind) {
			return ""
		}
	}
	return "no read and no compare-and-set found a value: there is nothing to judge"
}
