package checker

import (
	"cmp"
	"math/bits"
	"slices"

	"lockcheck/checker/history"
)

// removers finds what may have removed each of a key's grants that were lost early. Nothing is kept of clean-ups that were
// under way while none of these was asked for or held.
func (j *judge) removers(k *keyView, lost []premature) {
	if len(lost) == 0 {
		return
	}
	var spans []Span
	for _, p := range lost {
		spans = append(spans, Span{p.hold.startNS(), p.atNS})
	}
	spans = merged(spans)
	var near []pending
	j.cleanups(k, func(c pending) {
		n, _ := slices.BinarySearchFunc(spans, c.fromNS, func(s Span, ns int64) int { return cmp.Compare(s.ToNS, ns) })
		if n < len(spans) && spans[n].FromNS <= c.toNS {
			near = append(near, c)
		}
	})
	index := indexCleanups(near)
	for i := range lost {
		lost[i].other = index.of(lost[i].hold, lost[i].atNS)
	}
}

// cleanups are the releases of all holds of a key, the acquires that came to nothing and had to be tidied up after, and
// the sessions closed: whatever asks the service to remove a record.
func (j *judge) cleanups(k *keyView, each func(pending)) {
	for _, h := range k.acquires {
		for _, a := range h.Attempts {
			if a.F != history.Release {
				continue
			}
			c := pending{hold: h, client: h.Client, what: "release", fromNS: a.InvokeNS, toNS: a.DoneNS}
			if a.DoneNS == 0 || a.Outcome == history.Info {
				c.toNS = never
			}
			// A release that says it removed its own record although its hold had been lost before removed another's.
			c.aimless = !a.Acted()
			c.confess = a.Acted() && h.EndedNS != 0 && h.EndedNS <= a.InvokeNS
			each(c)
		}
		if until := j.tidiesUp(h); until != 0 {
			each(pending{hold: h, client: h.Client, what: "given-up acquire", fromNS: h.startNS(), toNS: until})
		}
	}
	var names []string
	for name, c := range j.m.Clients {
		if c.CloseNS != 0 {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		c := j.m.Clients[name]
		p := pending{client: name, what: "closing of its session", fromNS: c.CloseNS, toNS: never}
		if c.ExitNS != 0 {
			p.toNS = c.ExitNS
		}
		each(p)
	}
}

// tidiesUp is until when an acquire that came to nothing may have had what it left behind removed: until it is answered,
// or, if nothing is known of it, as long as its client lives. 0 if it leaves nothing.
func (j *judge) tidiesUp(h *Hold) int64 {
	switch {
	case h.gaveUp(), h.Outcome == history.Fail && h.Code == history.CodeBusy && !j.m.Plan.TryAtomic:
		return h.DoneNS
	case h.Outcome != history.Info:
		return 0
	case h.ExitNS != 0:
		return h.ExitNS
	}
	return never
}

// cleanupIndex finds a pending clean-up without looking at all of them. Those that confess, which are preferred, stand
// apart, and so do those that are aimless, for which an earlier moment counts.
type cleanupIndex []cleanupTree

// cleanupTree is clean-ups in the order of their beginnings, under a tree of their ends.
type cleanupTree struct {
	aimless bool
	all     []pending
	list    []int32 // which of all
	latest  []int64 // a binary tree of the latest ends: node i is over 2i and 2i+1, the leaves begin at its middle
}

func indexCleanups(list []pending) cleanupIndex {
	sortInOrder(list, func(a, b pending) int { return cmp.Compare(a.fromNS, b.fromNS) })
	var x cleanupIndex
	for _, confess := range []bool{true, false} {
		for _, aimless := range []bool{false, true} {
			t := cleanupTree{aimless: aimless, all: list}
			for i := range list {
				if p := &list[i]; p.confess == confess && p.aimless == aimless {
					t.list = append(t.list, int32(i))
				}
			}
			leaves := 1 << bits.Len(uint(len(t.list)))
			t.latest = make([]int64, 2*leaves)
			for i, at := range t.list {
				t.latest[leaves+i] = list[at].toNS
			}
			for i := leaves - 1; i > 0; i-- {
				t.latest[i] = max(t.latest[2*i], t.latest[2*i+1])
			}
			x = append(x, t)
		}
	}
	return x
}

// of is a clean-up other than h's own that may have removed the grant of h, which was gone at atNS; nil if there is none.
func (x cleanupIndex) of(h *Hold, atNS int64) *pending {
	for _, t := range x {
		if p := t.of(h, atNS); p != nil {
			return p
		}
	}
	return nil
}

// of goes back from the last that had begun by then; those that are h's own are few.
func (t *cleanupTree) of(h *Hold, atNS int64) *pending {
	begun, _ := slices.BinarySearchFunc(t.list, atNS+1, func(i int32, ns int64) int { return cmp.Compare(t.all[i].fromNS, ns) })
	for n := t.lastEnding(begun-1, h.lostSince(t.aimless)); n >= 0; n = t.lastEnding(n-1, h.lostSince(t.aimless)) {
		if p := &t.all[t.list[n]]; p.hold != h && (p.hold != nil || p.client != h.Client) {
			return p
		}
	}
	return nil
}

// lastEnding is the last of the clean-ups up to the n-th that ends at sinceNS or later; -1 if none does.
func (t *cleanupTree) lastEnding(n int, sinceNS int64) int {
	if n < 0 {
		return -1
	}
	leaves := len(t.latest) / 2
	at := leaves + n
	for t.latest[at] < sinceNS {
		for at%2 == 0 { // the left one of two: what comes before both is next
			at /= 2
		}
		if at == 1 {
			return -1
		}
		at-- // its left sibling
	}
	for at < leaves {
		if at = 2*at + 1; t.latest[at] < sinceNS {
			at--
		}
	}
	return at - leaves
}
