package checker

import (
	"cmp"
	"fmt"
	"slices"

	"lockcheck/checker/history"
)

// update is what one hold did to the register, taken as one step (J7): it found a value, or did not look, and left
// another, or left it as it was. What the resource did counts, not what the client was told.
type update struct {
	hold   *Hold
	call   int64
	ret    int64 // never if an effective request got no answer
	finds  string
	looks  bool
	leaves string
	writes bool
	// torn says why the accesses cannot be one step: the hold found a value other than the one it had left.
	torn string
}

// updatesOf are the updates of a key, in the order of their holds. A request that the resource refused or never handled
// did nothing; the rest of its hold still counts. Nothing is optional: the log, which is complete, resolves every write
// of unknown outcome. Inside a hold, too, the order is the resource's: a write that was given up may land last.
func updatesOf(k *keyView) (updates []update) {
	for _, h := range k.acquires {
		u := update{hold: h, call: -1}
		for _, a := range h.effective() {
			if u.call < 0 || a.InvokeNS < u.call {
				u.call = a.InvokeNS
			}
			u.ret = max(u.ret, a.endNS())
			switch {
			case a.F == history.Write:
				u.writes, u.leaves = true, a.Value
			case !u.looks && !u.writes:
				u.looks, u.finds = true, a.Value
			case u.writes && a.Value != u.leaves:
				u.torn = fmt.Sprintf("found %s after it had written %s", valueName(a.Value), u.leaves)
			case !u.writes && a.Value != u.finds:
				u.torn = fmt.Sprintf("found %s after it had found %s", valueName(a.Value), valueName(u.finds))
			}
		}
		if u.call >= 0 {
			updates = append(updates, u)
		}
	}
	return updates
}

// effective are the accesses that did something or saw something. An applied read that nobody saw the answer of is
// neither.
func (h *Hold) effective() []*Access {
	var all []*Access
	for _, a := range h.Accesses {
		if a.Applied() && (a.F == history.Write || a.Outcome == history.OK) {
			all = append(all, a)
		}
	}
	slices.SortFunc(all, func(a, b *Access) int { return cmp.Compare(a.Handled.Seq, b.Handled.Seq) })
	return all
}

// endNS is when an access was over: never, if that was not seen.
func (a *Access) endNS() int64 {
	if a.Outcome == history.OK || a.Outcome == history.Fail {
		return a.DoneNS
	}
	return never
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
// values never come back), the initial one first. So it exists exactly when (1) every value found was left by somebody,
// and is followed by at most one writer; (2) inside each chain nobody returns before one placed earlier is called; and
// (3) the chains can be ordered. For (3), chain S must come before T if some update of S returns before one of T is
// called: ret(S) < call(T). That relation has a cycle exactly when it has one of two (the zones of Gibbons and Korach:
// two forward zones [ret, call] overlap, or a backward zone [call, ret] lies inside a forward one).
func registerOrder(updates []update) ([]registerConflict, []*chain) {
	var conflicts []registerConflict
	var chains []*chain
	writers := map[string]*update{}     // by the value left
	lookers := map[string][]*update{}   // by the value found, of those that leave it
	followers := map[string][]*update{} // by the value found, of those that change it
	for i := range updates {
		u := &updates[i]
		if u.torn != "" {
			conflicts = append(conflicts, registerConflict{updates: []*update{u}, before: u.finds, text: u.torn})
		}
		switch {
		case u.writes && u.looks && u.finds == u.leaves:
			conflicts = append(conflicts, registerConflict{updates: []*update{u}, text: "found the value that it was yet to write"})
		case u.writes && u.looks:
			followers[u.finds] = append(followers[u.finds], u)
		case !u.writes:
			lookers[u.finds] = append(lookers[u.finds], u)
		}
		if u.writes {
			writers[u.leaves] = u
		}
	}
	var starts []*update
	for i := range updates {
		u := &updates[i]
		if u.writes && !u.looks {
			starts = append(starts, u)
		}
		if u.looks && u.finds != "" && writers[u.finds] == nil {
			conflicts = append(conflicts, registerConflict{updates: []*update{u}, text: fmt.Sprintf("found %q, which no hold had left behind", u.finds)})
		}
	}
	for _, value := range sortedKeys(followers) {
		f := followers[value]
		slices.SortStableFunc(f, func(a, b *update) int { return cmp.Compare(a.ret, b.ret) })
		for _, u := range f[1:] {
			conflicts = append(conflicts, registerConflict{updates: []*update{f[0], u}, before: value,
				text: fmt.Sprintf("both built on %s", valueName(value))})
		}
	}
	grow := func(start *update) *chain {
		c, value, place := &chain{call: -1, ret: never}, "", 0
		if start != nil {
			c.add(start, place)
			value = start.leaves
		} else {
			c.ret = -1 // the initial value was there before everything
		}
		for {
			for _, u := range lookers[value] {
				c.add(u, place+1)
			}
			if len(followers[value]) == 0 {
				return c
			}
			next := followers[value][0]
			delete(followers, value)
			place += 2
			c.add(next, place)
			value = next.leaves
		}
	}
	reached := 0
	for _, s := range append([]*update{nil}, starts...) {
		c := grow(s)
		chains = append(chains, c)
		reached += len(c.links)
	}
	if reached < len(updates) && len(conflicts) == 0 {
		conflicts = append(conflicts, circle(updates, chains))
	}
	for _, c := range chains {
		conflicts = append(conflicts, c.conflicts()...)
	}
	return append(conflicts, zoneConflicts(chains)...), chains
}

// circle are the updates that no chain reaches although each found a value that another left: they found one another's.
func circle(updates []update, chains []*chain) registerConflict {
	reached := map[*update]bool{}
	for _, c := range chains {
		for _, l := range c.links {
			reached[l.update] = true
		}
	}
	r := registerConflict{text: "found one another's values in a circle"}
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
	pending, told := 0, -1
	for i, l := range c.links {
		for ; c.links[pending].place < l.place; pending++ {
			if latest < 0 || c.links[pending].call > c.links[latest].call {
				latest = pending
			}
		}
		if latest >= 0 && latest != told && l.ret < c.links[latest].call {
			told = latest // whoever else came too early for this one adds nothing
			r := registerConflict{before: c.links[latest].finds, text: "was over before what it must come after had been asked for"}
			for k := latest; k <= i; k++ {
				if c.links[k].writes || k == latest || k == i {
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
	slices.SortStableFunc(forward, func(a, b *chain) int { return cmp.Compare(a.ret, b.ret) })
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

func valueName(v string) string {
	if v == "" {
		return "the initial value"
	}
	return v
}
