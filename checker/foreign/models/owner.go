package models

import (
	"fmt"
	"hash/maphash"
	"strings"

	"github.com/anishathalye/porcupine"

	"lockcheck/checker/foreign/jepsen"
	"lockcheck/checker/history"
)

// someone is the owner of an operation of unknown outcome whose owner is not known: it may be any client's, which
// explains more histories than any one name would.
const someone = "?"

// tenure is the state of a lock with an owner: its holder ("" if it is free), and the highest token it was granted with.
type tenure struct{ holder, fence string }

var seed = maphash.MakeSeed()

// ownerMachine is a lock that only its holder can release, and that its holder cannot acquire again. With fences, a
// grant whose token is known needs one greater than all known ones before; a grant without a valid token says nothing
// about its own, and neither raises nor is held against the highest.
//
// Operations of unknown outcome do nothing where they cannot take effect, as with mutex; whether one of them was granted
// with a token is not known, so it is granted without.
func ownerMachine(fenced bool) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return tenure{} },
		Step: func(state, input, _ any) (bool, any) {
			t, o := state.(tenure), input.(*op)
			switch {
			case o.step == acquire && t.holder != "":
				return o.optional, t
			case o.step == acquire && fenced && o.fence != "":
				return lower(t.fence, o.fence), tenure{o.owner, o.fence}
			case o.step == acquire:
				return true, tenure{o.owner, t.fence}
			case t.holder == "" || t.holder != o.owner && t.holder != someone && o.owner != someone:
				return o.optional, t
			default:
				return true, tenure{"", t.fence}
			}
		},
		Hash: func(state any) uint64 { return maphash.Comparable(seed, state.(tenure)) },
		DescribeOperation: func(input, output any) string {
			o := input.(*op)
			text := describe(input, output) + " by " + o.owner
			if fenced && o.fence != "" {
				text += " with token " + o.fence
			}
			return text
		},
		DescribeState: func(state any) string {
			t := state.(tenure)
			text := "free"
			if t.holder != "" {
				text = "held by " + t.holder
			}
			if t.fence != "" {
				text += ", highest token " + t.fence
			}
			return text
		},
	}
}

var ownerMutex = Model{
	Name:      "owner-mutex",
	Doc:       "a lock that only its holder can release; the owner is :client in the value of an operation, else its process",
	functions: lockFunctions,
	machine:   ownerMachine(false),
	name:      nameOwners,
	exact:     func(ops []op) (decision, bool) { return tenures(ops, false) },
	idle:      idleOwners,
	units:     unitsOfOwners,
	exposed:   someGrant,
}

var fencedMutex = Model{
	Name:      "fenced-mutex",
	Doc:       "owner-mutex whose grants carry tokens that rise: the value of an acquire's :ok, or :fence or :token in it",
	functions: map[string]func(*op, *jepsen.Operation) string{"acquire": readFencedAcquire, "release": readRelease},
	machine:   ownerMachine(true),
	name:      nameOwners,
	exact:     func(ops []op) (decision, bool) { return tenures(ops, true) },
	idle:      idleOwners,
	units:     unitsOfOwners,
	exposed: func(ops []op) string {
		for i := range ops {
			if ops[i].fence != "" {
				return ""
			}
		}
		return "no grant has a token: an order of them would say nothing about fencing"
	},
}

// readFencedAcquire finds the token of a grant: the answer itself if it is a number that was not already asked with (Jepsen
// gives the question's value back where a client sets none), or what the answer has under :fence or :token. Zero and
// below are what services answer when there is no token (Hazelcast's invalid fence).
func readFencedAcquire(o *op, from *jepsen.Operation) string {
	if wrong := readAcquire(o, from); wrong != "" || o.optional {
		return wrong
	}
	token := from.Output.Untagged()
	switch {
	case token.Kind() == jepsen.Map:
		token = from.Output.Get("fence")
		if token.IsNil() {
			token = from.Output.Get("token")
		}
	case token.String() == from.Input.Untagged().String():
		return ""
	}
	text := token.Text()
	switch token.Kind() {
	case jepsen.Nil:
		return ""
	case jepsen.Int:
	case jepsen.String:
		if text == "" || strings.Trim(text, "0123456789") != "" {
			return fmt.Sprintf("the token of an :acquire has to be a whole number, not %.60q", text)
		}
		text = strings.TrimLeft(text, "0")
	default:
		return fmt.Sprintf("the token of an :acquire has to be a whole number, not %.60q", token.String())
	}
	if len(text) > history.MaxToken {
		return fmt.Sprintf("the token of an :acquire has more than %d digits", history.MaxToken)
	}
	if text != "" && text != "0" && text[0] != '-' {
		o.fence = text
	}
	return ""
}

// lower compares tokens, "" being lower than all. They have no leading zeros.
func lower(a, b string) bool { return len(a) < len(b) || len(a) == len(b) && a < b }

// nameOwners gives every operation its owner: the client that its value names; else, as a Jepsen process has one
// client all its life, the one that another answer to its process names; else the process itself. In a history in which
// clients are named, an operation of unknown outcome whose process never got a named answer may be any client's.
func nameOwners(ops []op, all []jepsen.Operation) {
	clients := map[string]string{} // by process
	nameOf := func(from *jepsen.Operation) string {
		for _, v := range []jepsen.Value{from.Output, from.Input} {
			if c := v.Get("client"); !c.IsNil() {
				return "client " + c.Text()
			}
		}
		return ""
	}
	for i := range all {
		if name := nameOf(&all[i]); name != "" && clients[all[i].Process] == "" {
			clients[all[i].Process] = name
		}
	}
	for i := range ops {
		o, from := &ops[i], &all[ops[i].src]
		switch o.owner = nameOf(from); {
		case o.owner != "":
		case clients[from.Process] != "":
			o.owner = clients[from.Process]
		case o.optional && len(clients) > 0:
			o.owner = someone
		default:
			o.owner = "process " + from.Process
		}
	}
}

// idleOwners: an acquire of unknown outcome only serves a release of the same owner that succeeded after it was called;
// taken out of an order together with the release of unknown outcome that ends it, it leaves an order. A release of
// unknown outcome only serves an owner that acquires.
func idleOwners(ops []op) []bool {
	released, acquires, anyone := map[string]int64{}, map[string]bool{}, false
	for i := range ops {
		switch o := &ops[i]; {
		case o.owner == someone:
			anyone = true
		case o.step == acquire:
			acquires[o.owner] = true
		case !o.optional:
			released[o.owner] = max(released[o.owner], o.ret)
		}
	}
	idle := make([]bool, len(ops))
	for i := range ops {
		o := &ops[i]
		idle[i] = o.optional && !anyone &&
			(o.step == acquire && released[o.owner] < o.call || o.step == release && !acquires[o.owner])
	}
	return idle
}

// unitsOfOwners: all that one owner did can be taken out of an order of a lock with owners; the lock is free in its place, and
// the tokens of the others still rise. Where one owner is nameless, its operations could be any owner's.
func unitsOfOwners(ops []op) [][]int {
	places, units := map[string]int{}, [][]int(nil)
	for i := range ops {
		if ops[i].owner == someone {
			return nil
		}
		at, known := places[ops[i].owner]
		if !known {
			at = len(units)
			places[ops[i].owner] = at
			units = append(units, nil)
		}
		units[at] = append(units[at], i)
	}
	return units
}
