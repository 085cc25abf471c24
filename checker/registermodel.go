package checker

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"io"
	"iter"
	"maps"
	"slices"

	"github.com/anishathalye/porcupine"
)

// registerModel is a register whose operations are whole updates. The state is its value.
func registerModel(initial string) porcupine.Model {
	seed := maphash.MakeSeed()
	return porcupine.Model{
		Init: func() any { return initial },
		Step: func(state, input, _ any) (bool, any) {
			u := input.(*update)
			if u.torn != "" || u.looks() && state.(string) != u.finds() {
				return false, state
			}
			if u.writes() {
				return true, u.leaves()
			}
			return true, state
		},
		Hash: func(state any) uint64 { return maphash.String(seed, state.(string)) },
		DescribeOperation: func(input, _ any) string {
			u := input.(*update)
			found, left := "", ""
			if u.looks() {
				found = " found " + valueName(u.finds())
			}
			if u.writes() {
				left = " left " + u.leaves()
			}
			return u.hold.Client + "/" + u.hold.ID + found + left
		},
		DescribeState: func(state any) string { return valueName(state.(string)) },
	}
}

func registerOps(updates []*update, end int64) []porcupine.Operation {
	ops := make([]porcupine.Operation, len(updates))
	for i, u := range updates {
		ops[i] = porcupine.Operation{ClientId: i, Input: u, Call: u.call, Return: min(u.ret, end)}
	}
	return ops
}

// registerWindow is how many updates one window of a long history has.
const registerWindow = 128

// resourceLinearizability is J7.
func (j *judge) resourceLinearizability() outcome {
	o := j.toConfirm()
	for _, k := range j.keys {
		if j.m.untrusted() != "" || !k.eachInTurn(func(update) bool { return true }) {
			j.orderedByChains(k, &o)
		} else if !j.opts.Unconfirmed {
			confirmRegister(k.name, k.updatesInTurn(), true, &o)
		}
		if o.defect != nil {
			return o
		}
	}
	if o.unconfirmed != "" {
		o.confirmedBy = ""
	}
	return o
}

// orderedByChains judges a key of which some updates did not follow one another in the resource's own order.
func (j *judge) orderedByChains(k *keyView, o *outcome) {
	updates, values := updatesOf(k)
	conflicts, chains := orderUpdates(updates, values)
	switch {
	case len(conflicts) > 0:
		o.windows = append(o.windows, j.drawRegister(k, conflicts[0]))
	case j.opts.Unconfirmed:
	case len(chains) == 1:
		confirmRegister(k.name, chains[0].inOrder(), true, o)
	default:
		confirmRegister(k.name, eachOf(updates), false, o)
	}
	for _, c := range conflicts {
		// The updates of a conflict are forced into their order by their values alone, so what comes before, between
		// and after them cannot help: where they have no order, the whole has none.
		switch j.refute(c) {
		case legal:
			o.defect = disagreementf("updates of %s exclude each other by the former (%s %s), and Porcupine finds an order",
				k.name, c.updates[len(c.updates)-1].hold.ID, c.text)
			return
		case undecided:
			o.unconfirmed = fmt.Sprintf("a violation on %s is not confirmed by Porcupine: the search needs more than %d steps", k.name, maxSteps)
		}
		old, _ := j.rivals(k, c)
		o.hits = append(o.hits, hit{k.name, c.atNS(), old.ID, func() Finding { return j.registerFinding(k, c) }})
	}
}

// refute asks Porcupine for an order of a conflict's updates.
func (j *judge) refute(c registerConflict) answer {
	if j.opts.Unconfirmed {
		return illegal
	}
	return search(registerModel(c.before), registerOps(c.updates, openEnd))
}

// confirmRegister has Porcupine confirm that a key's updates can be ordered: in one search if they are few, else, if the
// order they come in is the one that their values force, in windows of that.
func confirmRegister(key string, updates iter.Seq[*update], forced bool, o *outcome) {
	var few []*update
	for u := range updates {
		if few = append(few, u); len(few) > 2*registerWindow {
			break
		}
	}
	verdict := undecided
	if len(few) <= 2*registerWindow {
		verdict = search(registerModel(""), registerOps(few, openEnd))
	}
	if verdict == undecided && forced {
		verdict = searchForced(updates, registerWindow)
	}
	switch verdict {
	case illegal:
		o.defect = disagreementf("the updates of %s can be ordered by the former, and Porcupine finds no order", key)
	case undecided:
		o.unconfirmed = fmt.Sprintf("not confirmed by Porcupine on %s: the search needs more than %d steps", key, maxSteps)
	}
}

// registerStretch is one window: updates, and the value in the register before them.
type registerStretch struct {
	value   string
	updates []*update
	early   bool // one of them returned before one of a window before it was called
}

// registerStretches cuts updates into windows of so many. One window after the other is an order of the whole if no update in a
// later one returned before one in an earlier was called.
func registerStretches(updates iter.Seq[*update], size int) iter.Seq[*registerStretch] {
	return func(yield func(*registerStretch) bool) {
		w := &registerStretch{}
		value, called, latest := "", int64(0), int64(0) // latest is of the windows before
		for u := range updates {
			if len(w.updates) == size {
				if !yield(w) {
					return
				}
				w, latest = &registerStretch{value: value, updates: make([]*update, 0, size)}, called
			}
			w.updates, w.early = append(w.updates, u), w.early || u.ret < latest
			called = max(called, u.call)
			if u.writes() {
				value = u.leaves()
			}
		}
		if len(w.updates) > 0 {
			yield(w)
		}
	}
}

func searchForced(updates iter.Seq[*update], size int) answer {
	return searchInTurn(registerStretches(updates, size), func(w *registerStretch) answer {
		if w.early {
			return illegal
		}
		return search(registerModel(w.value), registerOps(w.updates, openEnd))
	})
}

// inOrder are the updates of a chain, those that look at one value by their calls.
func (c *chain) inOrder() iter.Seq[*update] {
	sortInOrder(c.links, func(a, b link) int { return cmp.Or(cmp.Compare(a.place, b.place), cmp.Compare(a.call, b.call)) })
	return func(yield func(*update) bool) {
		for _, l := range c.links {
			if !yield(l.update) {
				return
			}
		}
	}
}

// atNS is when a conflict was complete: when the resource had handled the last of its requests.
func (c *registerConflict) atNS() int64 {
	at := int64(0)
	for _, u := range c.updates {
		at = max(at, u.call)
		for _, a := range u.hold.effective(nil) {
			at = max(at, a.handledNS)
		}
	}
	return at
}

func (j *judge) registerFinding(k *keyView, c registerConflict) Finding {
	old, young := j.rivals(k, c)
	f := Finding{Key: k.name, AtNS: c.atNS(), FromNS: old.DoneNS, ToNS: c.atNS()}
	if young == nil {
		f.Summary = fmt.Sprintf("%s %s: its read and write of %s were not one step", old.Client, c.text, k.name)
	} else {
		f.Summary = fmt.Sprintf("the updates of %s and %s to %s cannot be put in any order: %s", old.Client, young.Client, k.name, c.text)
		f.FromNS = min(old.DoneNS, young.DoneNS)
	}
	f.Cause = j.cause(old, young, f.AtNS)
	s := j.story(&f, old, young)
	for _, u := range c.updates[:min(len(c.updates), maxStoryUpdates)] {
		s.updated(u)
	}
	s.finish()
	return f
}

// rivals are the first and the last hold of a conflict, the older first; young is nil if there is but one.
func (j *judge) rivals(k *keyView, c registerConflict) (old, young *Hold) {
	first, last := c.updates[0].hold, c.updates[len(c.updates)-1].hold
	if first == last {
		return last, nil
	}
	return j.older(k, first, last)
}

// maxStoryUpdates bounds the updates of one conflict that a story shows.
const maxStoryUpdates = 12

// drawRegister is a picture of the updates of a conflict.
func (j *judge) drawRegister(k *keyView, c registerConflict) Window {
	return Window{Property: ResourceLinearizability, Key: k.name, FromNS: c.updates[0].call, ToNS: c.atNS(),
		Draw: func(w io.Writer) error {
			return draw(w, registerModel(c.before), registerOps(c.updates[:min(len(c.updates), registerWindow)], j.m.EndNS+1))
		}}
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
