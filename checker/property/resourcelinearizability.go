package property

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"io"
	"iter"
	"slices"

	"github.com/anishathalye/porcupine"

	"lockcheck/checker/explain"
	"lockcheck/checker/history"
	"lockcheck/checker/internal/search"
	"lockcheck/checker/model"
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
				found = " found " + model.ValueName(u.finds())
			}
			if u.writes() {
				left = " left " + u.leaves()
			}
			return u.hold.Client + "/" + u.hold.ID + found + left
		},
		DescribeState: func(state any) string { return model.ValueName(state.(string)) },
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

// ResourceLinearizability is rule J7.
func (j *Judge) ResourceLinearizability() Outcome {
	o := j.toConfirm()
	for _, k := range j.keys {
		if j.m.Untrusted() != "" || !eachInTurn(k, func(update) bool { return true }) {
			j.orderedByChains(k, &o)
		} else if !j.unconfirmed {
			confirmRegister(k.Name, updatesInTurn(k), true, &o)
		}
		if o.Defect != nil {
			return o
		}
	}
	if o.Unconfirmed != "" {
		o.ConfirmedBy = ""
	}
	return o
}

// orderedByChains judges a key of which some updates did not follow one another in the resource's own order.
func (j *Judge) orderedByChains(k *model.Lock, o *Outcome) {
	updates, values := updatesOf(k)
	conflicts, chains := orderUpdates(updates, values)
	switch {
	case len(conflicts) > 0:
		o.Windows = append(o.Windows, j.drawRegister(k, conflicts[0]))
	case j.unconfirmed:
	case len(chains) == 1:
		confirmRegister(k.Name, chains[0].inOrder(), true, o)
	default:
		confirmRegister(k.Name, eachOf(updates), false, o)
	}
	for _, c := range conflicts {
		// The updates of a conflict are forced into their order by their values alone, so what comes before, between
		// and after them cannot help: where they have no order, the whole has none.
		switch j.refute(c) {
		case search.Legal:
			o.Defect = disagreementf("updates of %s exclude each other by the former (%s %s), and Porcupine finds an order",
				k.Name, c.updates[len(c.updates)-1].hold.ID, c.text)
			return
		case search.Undecided:
			o.Unconfirmed = fmt.Sprintf("a violation on %s is not confirmed by Porcupine: the search needs more than %d steps", k.Name, search.MaxSteps)
		}
		old, _ := j.rivals(k, c)
		o.add(k.Name, c.atNS(), old.ID, func() model.Finding { return j.registerFinding(k, c) })
	}
}

// refute asks Porcupine for an order of a conflict's updates.
func (j *Judge) refute(c registerConflict) search.Answer {
	if j.unconfirmed {
		return search.Illegal
	}
	return search.Ask(registerModel(c.before), registerOps(c.updates, search.OpenEnd))
}

// confirmRegister has Porcupine confirm that a key's updates can be ordered: in one search if they are few, else, if the
// order they come in is the one that their values force, in windows of that.
func confirmRegister(key string, updates iter.Seq[*update], forced bool, o *Outcome) {
	var few []*update
	for u := range updates {
		if few = append(few, u); len(few) > 2*registerWindow {
			break
		}
	}
	verdict := search.Undecided
	if len(few) <= 2*registerWindow {
		verdict = search.Ask(registerModel(""), registerOps(few, search.OpenEnd))
	}
	if verdict == search.Undecided && forced {
		verdict = searchForced(updates, registerWindow)
	}
	switch verdict {
	case search.Illegal:
		o.Defect = disagreementf("the updates of %s can be ordered by the former, and Porcupine finds no order", key)
	case search.Undecided:
		o.Unconfirmed = fmt.Sprintf("not confirmed by Porcupine on %s: the search needs more than %d steps", key, search.MaxSteps)
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

func searchForced(updates iter.Seq[*update], size int) search.Answer {
	return search.InTurn(registerStretches(updates, size), func(w *registerStretch) search.Answer {
		if w.early {
			return search.Illegal
		}
		return search.Ask(registerModel(w.value), registerOps(w.updates, search.OpenEnd))
	})
}

// inOrder are the updates of a chain, those that look at one value by their calls.
func (c *chain) inOrder() iter.Seq[*update] {
	model.SortInOrder(c.links, func(a, b link) int { return cmp.Or(cmp.Compare(a.place, b.place), cmp.Compare(a.call, b.call)) })
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
		for _, a := range u.hold.Effective(nil) {
			at = max(at, a.HandledNS)
		}
	}
	return at
}

func (j *Judge) registerFinding(k *model.Lock, c registerConflict) model.Finding {
	old, young := j.rivals(k, c)
	f := model.Finding{Key: k.Name, AtNS: c.atNS(), FromNS: old.DoneNS, ToNS: c.atNS()}
	if young == nil {
		f.Summary = fmt.Sprintf("%s %s: its read and write of %s were not one step", old.Client, c.text, k.Name)
	} else {
		f.Summary = fmt.Sprintf("the updates of %s and %s to %s conflict: %s", old.Client, young.Client, k.Name, c.text)
		f.FromNS = min(old.DoneNS, young.DoneNS)
	}
	f.Cause = explain.LossCause(j.m, old, young, f.AtNS)
	s := explain.NewStory(j.m, &f, old, young)
	for _, u := range c.updates[:min(len(c.updates), maxStoryUpdates)] {
		s.Updated(u.hold)
	}
	s.Finish()
	return f
}

// rivals are the first and the last hold of a conflict, the older first; young is nil if there is but one.
func (j *Judge) rivals(k *model.Lock, c registerConflict) (old, young *model.Hold) {
	first, last := c.updates[0].hold, c.updates[len(c.updates)-1].hold
	if first == last {
		return last, nil
	}
	return j.m.Older(k, first, last)
}

// maxStoryUpdates bounds the updates of one conflict that a story shows.
const maxStoryUpdates = 12

// drawRegister is a picture of the updates of a conflict.
func (j *Judge) drawRegister(k *model.Lock, c registerConflict) model.Window {
	return model.Window{Property: model.ResourceLinearizability, Key: k.Name, FromNS: c.updates[0].call, ToNS: c.atNS(),
		Draw: func(w io.Writer) error {
			return search.Draw(w, registerModel(c.before), registerOps(c.updates[:min(len(c.updates), registerWindow)], j.m.EndNS+1))
		}}
}

// StableUpdateConflict tells which findings are stable: a hold whose own accesses contradict one another, or one that found what another
// hold has overwritten itself; or two that were built on the same value, of which the one that was over first stays the first.
func (j *Judge) StableUpdateConflict() func(*model.Finding) bool {
	return func(f *model.Finding) bool {
		holds := j.watch.named(j.m, f)
		updates := make([]update, len(holds))
		for i, h := range holds {
			if isUnanswered(h) {
				return false
			}
			updates[i] = updateOf(h, h.Effective(nil))
		}
		u := &updates[0]
		if len(updates) == 1 {
			return u.torn != "" || u.foundHalfDone()
		}
		v := &updates[1]
		if v.ret < u.ret {
			u, v = v, u
		}
		return u.rivals(v) && u.ret < model.Never && j.over(u.hold) && isResolved(u.hold)
	}
}

// rivals reports whether two updates were built on one value.
func (u *update) rivals(v *update) bool {
	if !u.looks() || !u.writes() || !v.looks() || !v.writes() {
		return false
	}
	return u.read.Built == v.read.Built && u.read.Value == v.read.Value
}

// foundHalfDone reports whether an update found a value that its writer had overwritten itself, in the same hold.
func (u *update) foundHalfDone() bool {
	if !u.looks() || u.read.Built == nil || u.read.Built.Place == 0 {
		return false
	}
	by := u.read.Built.Hold
	wrote := updateOf(by, by.Effective(nil)).wrote
	return by != u.hold && wrote != nil && wrote != u.read.Built
}

// isResolved reports whether it is known of every access of a hold whether the resource has done it.
func isResolved(h *model.Hold) bool {
	return !slices.ContainsFunc(h.Accesses, func(a *model.Access) bool { return a.Handled == 0 && a.Outcome != history.Fail })
}

// ReadsTested says what a pass lacks: an order of updates is known only from what holds read.
func (j *Judge) ReadsTested() string {
	if j.used(func(writes, _, reads int) bool { return writes > 0 && reads > 0 }) {
		return ""
	}
	return "no hold read what another one could have written, so any order explains their updates"
}
