package models

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/anishathalye/porcupine"

	"lockcheck/checker/foreign/jepsen"
	"lockcheck/checker/history"
)

// Model is a sequential object that a history is held against.
type Model struct {
	Name string
	Doc  string // one sentence
	// functions are the operations it knows; each reads one that did not fail, and says what is wrong with its value.
	functions map[string]func(*op, *jepsen.Operation) (wrong string)
	machine   porcupine.Model
	// name gives the operations their owners, where there are any.
	name func([]op, []jepsen.Operation)
	// exact decides without a search; not ok where the history is outside of its rule.
	exact func([]op) (d decision, ok bool)
	// idle marks the operations of unknown outcome that can as well never have happened, no matter what the others did.
	idle func([]op) []bool
	// units are sets of operations each of which can be taken out of any order and leaves an order of the others.
	units func([]op) [][]int
	// exposed says what was missing for an order to mean something; "" if nothing was.
	exposed func([]op) string
	// stricter is the same model with a reading of the history that accuses more; its own verdict is only ever a note.
	stricter *Model
	note     string // of the stricter reading
	// initial is what a register holds at first, as EDN; "" for what is no register.
	initial string
}

// The models.
var (
	Mutex       = &mutex
	OwnerMutex  = &ownerMutex
	FencedMutex = &fencedMutex
	Register    = &register
	CASRegister = &casRegister
)

// All are the models in the order in which they are listed.
func All() []*Model { return []*Model{Mutex, OwnerMutex, FencedMutex, Register, CASRegister} }

// Names are the names of all models, separated by commas.
func Names() string {
	var names []string
	for _, m := range All() {
		names = append(names, m.Name)
	}
	return strings.Join(names, ", ")
}

// Named is the model of that name; nil if there is none.
func Named(name string) *Model {
	for _, m := range All() {
		if m.Name == name {
			return m
		}
	}
	return nil
}

// step is what an operation does to its object.
type step uint8

const (
	acquire step = iota
	release
	read
	write
	swap
)

// op is an operation as a machine sees it. The machines take it as Porcupine's input.
type op struct {
	src       int // its place among the operations given
	call, ret int64
	optional  bool // its outcome is unknown: it may take effect at any time after its call, or never
	step      step
	owner     string
	fence     string // a positive decimal; "" says nothing
	finds     string // the value that a read returned, or that a swap wanted
	leaves    string // the value that a write or swap left
	blind     bool   // a read that says nothing
}

// decode gives the operations that took part, in the order of their calls.
func (m *Model) decode(all []jepsen.Operation) ([]op, error) {
	if err := m.knows(all); err != nil {
		return nil, err
	}
	ops := make([]op, 0, len(all))
	for i := range all {
		from := &all[i]
		if from.Outcome == history.Fail {
			continue
		}
		o := op{src: i, call: from.Call, ret: from.Return, optional: from.Outcome != history.OK}
		if o.optional {
			o.ret = jepsen.Never
		}
		if wrong := m.functions[from.F](&o, from); wrong != "" {
			return nil, jepsen.Mistakef(from.Line, "%s", wrong)
		}
		ops = append(ops, o)
	}
	slices.SortStableFunc(ops, func(a, b op) int { return cmp.Compare(a.call, b.call) })
	if m.name != nil {
		m.name(ops, all)
	}
	return ops, nil
}

// maxListed is how many unknown operations are named.
const maxListed = 20

// knows refuses a history with operations that the model does not know, and lists all of them.
func (m *Model) knows(all []jepsen.Operation) error {
	unknown, first := map[string]int{}, 0
	for i := range all {
		if m.functions[all[i].F] == nil {
			if unknown[all[i].F]++; first == 0 {
				first = all[i].Line
			}
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	var list []string
	for _, f := range slices.Sorted(maps.Keys(unknown)) {
		if len(list) == maxListed {
			list = append(list, fmt.Sprintf("and %d more", len(unknown)-maxListed))
			break
		}
		list = append(list, fmt.Sprintf("%.40q (%d)", ":"+f, unknown[f]))
	}
	return jepsen.Mistakef(first, "operations that the model %s does not know: %s; it knows :%s (models: %s)", m.Name, strings.Join(list, ", "),
		strings.Join(slices.Sorted(maps.Keys(m.functions)), ", :"), Names())
}
