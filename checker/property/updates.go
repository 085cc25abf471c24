package property

import (
	"cmp"
	"fmt"
	"slices"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
)

// update is what one hold did to the register, taken as one step (J7): it found a value, or did not look, and left
// another, or left it as it was. What the resource did counts, not what the client was told.
type update struct {
	hold  *model.Hold
	call  int64
	ret   int64         // never if an effective request got no answer
	read  *model.Access // the first that saw a value before the hold had written one; nil if it did not look
	wrote *model.Access // the last; nil if it left the value as it was
	// found and left number the values: 0 is the initial one. What is not looked at or not written is not numbered.
	found, left int32
	// torn says why the accesses cannot be one step: the hold found a value other than the one it had left.
	torn string
}

func (u *update) looks() bool  { return u.read != nil }
func (u *update) writes() bool { return u.wrote != nil }

// finds is the value that an update which looks has found.
func (u *update) finds() string {
	if u.read == nil {
		return ""
	}
	return u.read.Value
}

// leaves is the value that an update which writes has left.
func (u *update) leaves() string {
	if u.wrote == nil {
		return ""
	}
	return u.wrote.Value
}

// updatesOf are the updates of a key, in the order of their holds, and how many values they are numbered with. A request
// that the resource refused or never handled did nothing; the rest of its hold still counts. Nothing is optional: the log,
// which is complete, resolves every write of unknown outcome. Inside a hold, too, the order is the resource's: a write
// that was given up may land last.
func updatesOf(k *model.Lock) (updates []update, values int32) {
	values = int32(k.Writes) + 1
	unwritten := map[string]int32{} // values that were found although no client had written them
	number := func(a *model.Access) int32 {
		switch {
		case a.Built != nil:
			return a.Built.Number
		case a.Value == "":
			return 0
		}
		n := unwritten[a.Value]
		if n == 0 {
			n = values
			values++
			unwritten[a.Value] = n
		}
		return n
	}
	updates = make([]update, 0, len(k.Acquires))
	var buffer []*model.Access
	for _, h := range k.Acquires {
		buffer = h.Effective(buffer[:0])
		if len(buffer) == 0 {
			continue
		}
		u := updateOf(h, buffer)
		if u.looks() {
			u.found = number(u.read)
		}
		if u.writes() {
			u.left = u.wrote.Number
		}
		updates = append(updates, u)
	}
	return updates, values
}

// updateOf makes one update of what a hold did; its values are not numbered yet.
func updateOf(h *model.Hold, effective []*model.Access) update {
	u := update{hold: h, call: model.Never}
	for _, a := range effective {
		u.call, u.ret = min(u.call, a.InvokeNS), max(u.ret, accessEndNS(a))
		switch {
		case a.F == history.Write:
			u.wrote = a
		case !u.looks() && !u.writes():
			u.read = a
		case u.writes() && a.Value != u.leaves():
			u.torn = fmt.Sprintf("found %s after it had written %s", model.ValueName(a.Value), u.leaves())
		case !u.writes() && a.Value != u.finds():
			u.torn = fmt.Sprintf("found %s after it had found %s", model.ValueName(a.Value), model.ValueName(u.finds()))
		}
	}
	return u
}

// accessEndNS is when an access was over: never, if that was not seen.
func accessEndNS(a *model.Access) int64 {
	if a.Outcome == history.OK || a.Outcome == history.Fail {
		return a.DoneNS
	}
	return model.Never
}

// registerConflict is a proof that no order exists: updates that exclude each other, and the value in the register before
// the first of them.
type registerConflict struct {
	updates []*update
	before  string
	text    string
}

// chain is a maximal run of updates whose order is forced, because every value is written once: each finds what the one
// before it left. It begins with an update that did not look, or with the register's initial value.
type chain struct {
	links []link
	call  int64 // the latest call in it
	ret   int64 // the earliest return in it
}

// link is an update and its place in its chain: those that only look share the place of the value they found.
type link struct {
	*update
	place int
}

// registerOrder decides exactly whether the updates of a register whose written values are all different can be ordered.
//
// Such updates fall into chains, and the order inside a chain is forced up to updates that only look at one value. An
// order of the whole visits one chain after the other (a chain that was left cannot be entered again, because its
// values never come back), the initial one first. So it exists exactly when (1) every value found was left by an update, and is
// followed by at most one writer; (2) inside each chain no update returns before one placed earlier is called; and (3) the
// chains can be ordered. For (3), chain S must come before T if some update of S returns before one of T is called: ret(S) <
// call(T). That relation has a cycle exactly when it has one of two (the zones of Gibbons and Korach: two forward zones [ret,
// call] overlap, or a backward zone [call, ret] lies inside a forward one).
func registerOrder(updates []update) ([]registerConflict, []*chain) {
	return orderUpdates(updates, numberValues(updates))
}

// numberValues numbers the values of updates by comparing them, and returns how many there are.
func numberValues(updates []update) int32 {
	numbers := map[string]int32{"": 0}
	number := func(value string) int32 {
		n, known := numbers[value]
		if !known {
			n = int32(len(numbers))
			numbers[value] = n
		}
		return n
	}
	for i := range updates {
		updates[i].found, updates[i].left = number(updates[i].finds()), number(updates[i].leaves())
	}
	return int32(len(numbers))
}

// queue is a list of updates: the first, and for each which comes after it. Numbers are indexes plus one; 0 is none.
type queue struct{ first, last []int32 }

func newQueue(values int32) queue { return queue{make([]int32, values), make([]int32, values)} }

func (q queue) add(value int32, u int, next []int32) {
	if q.first[value] == 0 {
		q.first[value] = int32(u) + 1
	} else {
		next[q.last[value]-1] = int32(u) + 1
	}
	q.last[value] = int32(u) + 1
}

// orderUpdates is registerOrder for values that are numbered.
func orderUpdates(updates []update, values int32) ([]registerConflict, []*chain) {
	var conflicts []registerConflict
	writers := make([]*update, values) // by the value left
	lookers := newQueue(values)        // by the value found, of those that leave it
	followers := newQueue(values)      // by the value found, of those that change it
	next := make([]int32, len(updates))
	rivals := false // two follow one value
	for i := range updates {
		u := &updates[i]
		if u.torn != "" {
			conflicts = append(conflicts, registerConflict{updates: []*update{u}, before: u.finds(), text: u.torn})
		}
		switch {
		case u.writes() && u.looks() && u.found == u.left:
			conflicts = append(conflicts, registerConflict{updates: []*update{u}, text: "found the value that it was yet to write"})
		case u.writes() && u.looks():
			rivals = rivals || followers.first[u.found] != 0
			followers.add(u.found, i, next)
		case !u.writes():
			lookers.add(u.found, i, next)
		}
		if u.writes() {
			writers[u.left] = u
		}
	}
	starts := []*update{nil}
	for i := range updates {
		u := &updates[i]
		if u.writes() && !u.looks() {
			starts = append(starts, u)
		}
		if u.looks() && u.found != 0 && writers[u.found] == nil {
			conflicts = append(conflicts, registerConflict{updates: []*update{u}, text: fmt.Sprintf("found %q, which no hold had left behind", u.finds())})
		}
	}
	if rivals {
		conflicts = append(conflicts, rivalConflicts(updates, followers, next)...)
	}
	var chains []*chain
	reached := 0
	for _, s := range starts {
		c := grow(s, updates, lookers, followers, next)
		chains = append(chains, c)
		reached += len(c.links)
	}
	if reached < len(updates) && len(conflicts) == 0 {
		conflicts = append(conflicts, cycle(updates, chains))
	}
	for _, c := range chains {
		conflicts = append(conflicts, c.conflicts()...)
	}
	return append(conflicts, zoneConflicts(chains)...), chains
}

// rivalConflicts are updates that were built on the value that another was built on. Of those that follow a value it
// leaves the first to return, which the order goes on with.
func rivalConflicts(updates []update, followers queue, next []int32) (conflicts []registerConflict) {
	for value, n := range followers.first {
		if n == 0 || next[n-1] == 0 {
			continue
		}
		var rivals []int32
		for ; n != 0; n = next[n-1] {
			rivals = append(rivals, n)
		}
		slices.SortStableFunc(rivals, func(a, b int32) int { return cmp.Compare(updates[a-1].ret, updates[b-1].ret) })
		followers.first[value] = rivals[0]
		first := &updates[rivals[0]-1]
		for _, n := range rivals[1:] {
			conflicts = append(conflicts, registerConflict{updates: []*update{first, &updates[n-1]}, before: first.finds(),
				text: fmt.Sprintf("both built on %s", model.ValueName(first.finds()))})
		}
	}
	return conflicts
}

// grow follows the values from an update that did not look, or from the initial value if start is nil.
func grow(start *update, updates []update, lookers, followers queue, next []int32) *chain {
	c, value, place := &chain{call: -1, ret: model.Never}, int32(0), 0
	if start != nil {
		c.add(start, place)
		value = start.left
	} else {
		c.ret = -1 // the initial value was there before everything
		c.links = make([]link, 0, len(updates))
	}
	for {
		for n := lookers.first[value]; n != 0; n = next[n-1] {
			c.add(&updates[n-1], place+1)
		}
		n := followers.first[value]
		if n == 0 {
			return c
		}
		followers.first[value] = 0
		place += 2
		c.add(&updates[n-1], place)
		value = updates[n-1].left
	}
}

// cycle are the updates that no chain reaches although each found a value that another left: they found one another's.
func cycle(updates []update, chains []*chain) registerConflict {
	reached := map[*update]bool{}
	for _, c := range chains {
		for _, l := range c.links {
			reached[l.update] = true
		}
	}
	r := registerConflict{text: "found one another's values in a cycle"}
	for i := range updates {
		if u := &updates[i]; !reached[u] {
			r.updates = append(r.updates, u)
		}
	}
	return r
}

func (c *chain) add(u *update, place int) {
	c.links = append(c.links, link{u, place})
	c.call, c.ret = max(c.call, u.call), min(c.ret, u.ret)
}

// conflicts finds updates that return before one placed earlier in the chain is called. The witness is the chain between
// the two: its order is forced by the values alone.
func (c *chain) conflicts() (found []registerConflict) {
	latest := -1 // index of the link with the latest call among those placed before
	pending, reported := 0, -1
	for i, l := range c.links {
		for ; c.links[pending].place < l.place; pending++ {
			if latest < 0 || c.links[pending].call > c.links[latest].call {
				latest = pending
			}
		}
		if latest >= 0 && latest != reported && l.ret < c.links[latest].call {
			reported = latest // a second update that came too early for this one adds nothing
			r := registerConflict{before: c.links[latest].finds(), text: "was over before what it must come after had been asked for"}
			for k := latest; k <= i; k++ {
				if c.links[k].writes() || k == latest || k == i {
					r.updates = append(r.updates, c.links[k].update)
				}
			}
			found = append(found, r)
		}
	}
	return found
}

// zoneConflicts finds chains that cannot be ordered.
func zoneConflicts(chains []*chain) (found []registerConflict) {
	var forward, backward []*chain
	for _, c := range chains {
		switch {
		case len(c.links) == 0:
		case c.ret < c.call:
			forward = append(forward, c)
		default:
			backward = append(backward, c)
		}
	}
	conflict := func(a, b *chain) {
		r := registerConflict{text: "found values of which neither can have come first"}
		for _, c := range []*chain{a, b} {
			for _, l := range c.links {
				r.updates = append(r.updates, l.update)
			}
		}
		found = append(found, r)
	}
	model.SortInOrder(forward, func(a, b *chain) int { return cmp.Compare(a.ret, b.ret) })
	longest := make([]*chain, len(forward))
	for i, c := range forward {
		longest[i] = c
		if i > 0 && longest[i-1].call > c.call {
			longest[i] = longest[i-1]
		}
		if i > 0 && longest[i-1].call > c.ret {
			conflict(longest[i-1], c)
		}
	}
	for _, c := range backward {
		n, _ := slices.BinarySearchFunc(forward, c.call, func(f *chain, t int64) int { return cmp.Compare(f.ret, t) })
		if n > 0 && longest[n-1].call > c.ret {
			conflict(longest[n-1], c)
		}
	}
	return found
}
