package models

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"lockcheck/checker/foreign/jepsen"
	"lockcheck/checker/history"
)

// Part is the history of one object: a whole file, or what a file of several independent objects has of one key.
type Part struct {
	Key        jepsen.Value
	Keyed      bool // Key means something, and the values of the operations stand without it
	Operations []jepsen.Operation
}

// Split parts a history into those of its keys, in the order in which they are first asked for; a history without keys is
// one part. Jepsen's independent tests give every operation the value [key value] and print it as any other vector, so
// whether it is such a tuple has to be seen from the model's own operations. Where they do not show it, or not all of them
// do, the history is refused: judged as one object, many are always guilty.
func Split(m *Model, all []jepsen.Operation) ([]Part, error) {
	if err := m.knows(all); err != nil {
		return nil, err
	}
	var first [3]*jepsen.Operation // that shows each
	for i := range all {
		if shown := &first[m.shows(&all[i])]; *shown == nil {
			*shown = &all[i]
		}
	}
	with, without, either := first[keyed], first[plain], first[unclear]
	switch {
	case with != nil && without != nil:
		return nil, jepsen.Mistakef(without.Line, "this :%s has no key, but the :%s of line %d has one: in a file of several objects every value has to be [key value]", without.F, with.F, with.Line)
	case with != nil:
		return byKey(all)
	case without == nil && either != nil && m.judges(all):
		return nil, jepsen.Mistakef(either.Line, "the value of this :%s may be one value or [key value], and no operation shows which (a :read of a key is asked with [key nil]): "+
			"split the file by key; Jepsen keeps a history of each below independent/", either.F)
	}
	return []Part{{Operations: all}}, nil
}

// showing is what the value that an operation was asked with shows of its history.
type showing int

const (
	plain   showing = iota // the history is one object's
	keyed                  // its values are tuples of a key and a value
	unclear                // either
)

// shows looks at the form of the values alone. Locks take no vectors, so one of two is a tuple, and one of another length
// is for the model to refuse. A register's :read is asked with nothing, or for a key with [key nil].
func (m *Model) shows(o *jepsen.Operation) showing {
	_, value, pair := tuple(o.Input)
	_, _, double := tuple(value)
	switch {
	case tagged(o.Input):
		return keyed
	case !pair:
		return plain
	case m.initial == "", o.F == "read" && value.IsNil():
		return keyed
	case o.F == "cas" && !double:
		return plain
	}
	return unclear
}

// judges reports whether anything in a history can be held against a register. Where nothing can, how its values are to be
// read does not matter.
func (m *Model) judges(all []jepsen.Operation) bool {
	return slices.ContainsFunc(all, func(o jepsen.Operation) bool { return o.F != "write" && o.Outcome != history.Fail })
}

// tagged reports whether a value has the tag of a tuple. Jepsen's are Clojure's map entries and are printed without one;
// programs that print types write it.
func tagged(v jepsen.Value) bool {
	return v.Kind() == jepsen.Tagged && (strings.HasSuffix(v.Text(), ".Tuple") || strings.HasSuffix(v.Text(), ".MapEntry"))
}

// tuple takes a value of the form [key value] apart.
func tuple(v jepsen.Value) (key, value jepsen.Value, ok bool) {
	v = v.Untagged()
	if items := v.Items(); v.Kind() == jepsen.Vector && len(items) == 2 {
		return items[0], items[1], true
	}
	return jepsen.Value{}, jepsen.Value{}, false
}

// byKey splits a history of tuples. An answer that succeeded has to have the key that was asked with. One that did not may
// have anything (clients put the error there), and says nothing to a model.
func byKey(all []jepsen.Operation) (parts []Part, err error) {
	places := map[string]int{}
	for _, o := range all {
		key, input, ok := tuple(o.Input)
		if !ok {
			return nil, jepsen.Mistakef(o.Line, "the value of this :%s is no tuple [key value], though others of this file are", o.F)
		}
		name := key.String()
		answered, output, ok := tuple(o.Output)
		switch {
		case ok && answered.String() == name:
			o.Output = output
		case o.Outcome == history.OK:
			return nil, jepsen.Mistakef(o.EndLine, "this :%s was asked for the key %.60q (line %d), and its answer %.60q has another or none", o.F, name, o.Line, o.Output.String())
		}
		o.Input = input
		at, known := places[name]
		if !known {
			at = len(parts)
			places[name] = at
			parts = append(parts, Part{Key: key, Keyed: true})
		}
		parts[at].Operations = append(parts[at].Operations, o)
	}
	return parts, nil
}

// stepsForEach is how many steps an operation gets at least where there are too many parts to share a budget.
const stepsForEach = 50

// CheckEach judges each part alone, as Check does. They share the steps that Check would have for a single one: those with
// few operations come first, so that what they leave is there for the others.
func CheckEach(m *Model, parts []Part, steps int) ([]Result, error) {
	turns := make([]int, len(parts))
	for i := range turns {
		turns[i] = i
	}
	slices.SortStableFunc(turns, func(a, b int) int { return cmp.Compare(len(parts[a].Operations), len(parts[b].Operations)) })
	results := make([]Result, len(parts))
	for n, i := range turns {
		share := max(steps/(len(parts)-n), stepsForEach*len(parts[i].Operations))
		result, left, err := check(m, parts[i].Operations, share)
		if err != nil {
			return nil, parts[i].named(err)
		}
		results[i], steps = result, max(steps-share+left, 0)
	}
	return results, nil
}

// named says in a defect which key it is of; a mistake has its line.
func (p *Part) named(err error) error {
	var d *Defect
	if p.Keyed && errors.As(err, &d) {
		return &Defect{fmt.Sprintf("key %s: %s", p.Key, d.text)}
	}
	return err
}
