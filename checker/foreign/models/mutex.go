package models

import (
	"github.com/anishathalye/porcupine"

	"lockcheck/checker/foreign/jepsen"
)

// mutex is Jepsen's plain mutex: held or free. It knows no owners, so any release frees it. That is what Knossos
// calls a mutex, and a history that is legal with owners is legal without; the owners are in ownerMutex.
var mutex = Model{
	Name:      "mutex",
	Doc:       "a lock that is held or free; any client's release frees it",
	functions: lockFunctions,
	machine: porcupine.Model{
		Init: func() any { return false },
		// An operation of unknown outcome takes effect if it can, and else does nothing. That loses no order: one that
		// should rather do nothing where it could is ordered behind all the others, where it harms no other.
		Step: func(state, input, _ any) (bool, any) {
			held, o := state.(bool), input.(*op)
			wants := o.step == release
			if held != wants {
				return o.optional, held
			}
			return true, !held
		},
		Hash: func(state any) uint64 {
			if state.(bool) {
				return 1
			}
			return 0
		},
		DescribeOperation: describe,
		DescribeState: func(state any) string {
			if state.(bool) {
				return "held"
			}
			return "free"
		},
	},
	exact:   alternation,
	exposed: someGrant,
}

var lockFunctions = map[string]func(*op, *jepsen.Operation) string{"acquire": readAcquire, "release": readRelease}

func readAcquire(o *op, from *jepsen.Operation) string {
	o.step = acquire
	return oneLock(from)
}

func readRelease(o *op, from *jepsen.Operation) string {
	o.step = release
	return oneLock(from)
}

// oneLock refuses what jepsen.independent makes of a history: [key value], many locks in one file. Judged as one lock
// they would all be guilty.
func oneLock(from *jepsen.Operation) string {
	if from.Input.Untagged().Kind() == jepsen.Vector {
		return "the value of :" + from.F + " is a vector, as histories of several independent locks have it: a file has to hold one lock's history, split it by the first element"
	}
	return ""
}

func someGrant(ops []op) string {
	for i := range ops {
		if ops[i].step == acquire && !ops[i].optional {
			return ""
		}
	}
	return "no acquire succeeded: there is nothing to judge"
}
