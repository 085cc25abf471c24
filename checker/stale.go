package checker

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"lockcheck/checker/history"
)

// staleWrite is a write that the resource applied for hold after it had handled a request of a newer hold.
type staleWrite struct {
	key   string
	write *Access
	hold  *Hold
	newer *Hold
	prior *Access // of newer, handled before write
	why   staleProof
}

// staleProof says what orders the two holds.
type staleProof int

const (
	staleByTime  staleProof = iota // newer was asked for after hold had been granted
	staleByToken                   // newer has the greater token, and time does not say otherwise
	staleEither                    // nothing orders them, but they interleave: one of the two is stale
)

// staleWrite is J3. Which request came first is the resource's own order, without any clock.
func (j *judge) staleWrite() outcome {
	var o outcome
	if by := j.m.Plan.Compares(); by.OrdersWrites() {
		o.notApplicable = map[history.Comparison]string{
			history.CompareBases: "what order writes must have is decided by compare-and-set, not by who holds the lock",
			history.CompareKeys:  "which record of a slot counts is decided by its idempotency key, not by who holds the lock",
		}[by]
		return o
	}
	o.inconclusive = j.m.untrusted()
	for _, w := range j.stale() {
		old, _ := j.superseded(w)
		o.hits = append(o.hits, hit{w.key, w.write.handledNS, old.ID, func() Finding { return j.staleFinding(w) }})
	}
	return o
}

// stale are the stale writes; none where compare-and-set gives writes their order, or keys say which one counts.
func (j *judge) stale() []staleWrite {
	j.staleOnce.Do(func() {
		if j.m.Plan.Compares().OrdersWrites() {
			return
		}
		for _, k := range j.keys {
			j.staleWrites = append(j.staleWrites, j.staleOn(k)...)
		}
	})
	return j.staleWrites
}

// staleOn replays the resource's log of one key, and keeps of it no more than there are clients:
//
// (a) It is enough to know, of the holds seen so far, the one that was asked for last: if any was asked for after the
// writer had been granted, that one was. It may be the writer's own record once more (sameRecord); so the last of
// another session is kept, too.
// (b) Among holds with a greater token, the one granted last is the least likely to be older by (a): if the writer was
// not asked for after that one had been granted, it is newer by its token (see ranking).
func (j *judge) staleOn(k *keyView) (found []staleWrite) {
	log := staleLog{k: k, tokens: j.tokensProve(k)}
	for at, a := range k.handled {
		if a.F == history.Write {
			if newer, why := log.judge(a, at); newer != nil {
				found = append(found, staleWrite{k.name, a, a.Hold, newer.Hold, newer, why})
			}
		}
		log.take(a)
	}
	return found
}

// staleLog is what the replay of one key's log has seen so far.
type staleLog struct {
	k                *keyView
	youngest, writer latest // of the hold asked for last, and of the one among those that wrote
	tokens           bool   // they prove an order
	ranking          ranking
	ranked           *Hold             // the last one that was ranked
	pairs            map[[2]*Hold]bool // told of already
}

// latest is the access of the hold that was asked for last, and of the last one of another session than that.
type latest struct{ first, other *Access }

func (l *latest) take(a *Access) {
	if l.first != nil && l.first.Hold == a.Hold {
		return
	}
	apart := func(b *Access) bool { return a.Hold.Session == "" || a.Hold.Session != b.Hold.Session }
	later := func(b *Access) bool { return b == nil || a.Hold.startNS() > b.Hold.startNS() }
	switch {
	case later(l.first):
		if l.first != nil && apart(l.first) {
			l.other = l.first
		}
		l.first = a
	case later(l.other) && apart(l.first):
		l.other = a
	}
}

// newerThan is the access of a hold that was asked for after h had been granted, and is not the same record; nil if there
// is none.
func (l *latest) newerThan(h *Hold) *Access {
	for _, a := range [2]*Access{l.first, l.other} {
		if a != nil && a.Hold != h && h.followedBy(a.Hold) && !sameRecord(h, a.Hold) {
			return a
		}
	}
	return nil
}

// take adds a request to what has been seen.
func (l *staleLog) take(a *Access) {
	h := a.Hold
	if l.tokens && h != l.ranked && h.tokened() { // a hold's first request decides its rank
		l.ranking.take(a)
		l.ranked = h
	}
	l.youngest.take(a)
	if a.F == history.Write {
		l.writer.take(a)
	}
}

// judge looks for a proof that a write is stale. Of newer holders one that wrote makes the plainer proof.
func (l *staleLog) judge(w *Access, at int) (newer *Access, why staleProof) {
	h := w.Hold
	if prior := cmp.Or(l.writer.newerThan(h), l.youngest.newerThan(h)); prior != nil {
		return prior, staleByTime
	}
	if l.tokens && h.tokened() {
		if prior := l.ranking.above(h.Token); prior != nil && !prior.Hold.followedBy(h) {
			return prior, staleByToken
		}
	}
	return l.between(w, at)
}

// between looks for a request of h, a write of g, this write of h, where nothing orders g and h: if g is the newer, this
// write is stale; if h is, the write of g was. Of g and h one is stale, which is one finding however often they go on.
func (l *staleLog) between(w *Access, at int) (newer *Access, why staleProof) {
	h, begin := w.Hold, at
	for since := h.firstHandled(); begin > 0 && l.k.handled[begin-1].handled > since; {
		begin--
	}
	for _, prior := range l.k.handled[begin:at] {
		g := prior.Hold
		if prior.F != history.Write || g == h || h.followedBy(g) || g.followedBy(h) || l.tokensOrder(g, h) || mayShareRecord(g, h) || l.pairs[[2]*Hold{g, h}] {
			continue
		}
		if l.pairs == nil {
			l.pairs = map[[2]*Hold]bool{}
		}
		l.pairs[[2]*Hold{g, h}], l.pairs[[2]*Hold{h, g}] = true, true
		return prior, staleEither
	}
	return nil, staleEither
}

// firstHandled is where in the resource's log the first request of a hold is that was applied.
func (h *Hold) firstHandled() int32 {
	first := int32(math.MaxInt32)
	for _, a := range h.Accesses {
		if a.applied {
			first = min(first, a.handled)
		}
	}
	return first
}

// tokensOrder reports whether the tokens of two holds say which is the newer.
func (l *staleLog) tokensOrder(g, h *Hold) bool {
	return l.tokens && g.Token != "" && h.Token != "" && compareTokens(g.Token, h.Token) != 0
}

// tokened reports whether a hold was granted with a token.
func (h *Hold) tokened() bool { return h.Outcome == history.OK && h.Token != "" }

// ranking finds, of the requests seen so far, the one whose hold was granted last among those with a greater token than
// one. Of two holds, that with the lower token is of no use if it was granted before the other, and is not kept. So those
// that are kept, by falling tokens, were granted in that order; and where tokens prove an order (J2 holds) each of them was
// still waiting when the first was granted, or it would have been asked for later and have a greater token. So there is
// no more than one for each acquire that was pending at one moment, and one.
type ranking []*Access

func (r *ranking) take(a *Access) {
	h, list := a.Hold, *r
	at := list.after(h.Token, -1)
	if at > 0 && list[at-1].Hold.grantedByNS() >= h.grantedByNS() {
		return
	}
	useless := at
	for useless < len(list) && list[useless].Hold.grantedByNS() < h.grantedByNS() {
		useless++
	}
	*r = slices.Replace(list, at, useless, a)
}

// above is, of the holds with a greater token than this, the one granted last, and of several the one that was handled
// first; nil if there is none.
func (r ranking) above(token string) (best *Access) {
	for _, a := range slices.Backward(r[:r.after(token, 0)]) {
		if best != nil && a.Hold.grantedByNS() < best.Hold.grantedByNS() {
			break
		}
		if best == nil || a.handled < best.handled {
			best = a
		}
	}
	return best
}

// after counts those whose token compares to one greater than so.
func (r ranking) after(token string, than int) int {
	n := 0
	for n < len(r) && compareTokens(r[n].Hold.Token, token) > than {
		n++
	}
	return n
}

// superseded are the two holds of a stale write, the older one first. Where nothing orders them it may have lost the lock all the same.
func (j *judge) superseded(w staleWrite) (old, young *Hold) {
	if w.why == staleEither {
		return j.older(j.keyNamed(w.key), w.hold, w.newer)
	}
	return w.hold, w.newer
}

func (j *judge) staleFinding(w staleWrite) Finding {
	h, g := w.hold, w.newer
	f := Finding{Key: w.key, AtNS: w.write.handledNS, Requests: []int64{w.prior.Seq(), w.write.Seq()}}
	f.FromNS, f.ToNS = min(h.DoneNS, g.DoneNS), max(w.write.handledNS, g.DoneNS)
	if w.why == staleEither {
		f.Summary = fmt.Sprintf("the resource applied writes of %s and %s to %s in turn: one of the two wrote under a lock it had lost", h.Client, g.Client, w.key)
	} else {
		f.Summary = fmt.Sprintf("%s wrote %s%s after the newer holder %s%s had used it: accepted", h.Client, w.key, withToken(h), g.Client, withToken(g))
	}
	old, young := j.superseded(w)
	f.Cause = j.cause(old, young, w.write.handledNS)
	s := j.story(&f, old, young)
	guard, _ := history.GuardNamed(history.Guard(j.m.Plan.Guard))
	s.accessedAs(w.write, guard.Looked)
	s.accessed(w.prior)
	s.finish()
	return f
}

func withToken(h *Hold) string {
	if h.Token == "" {
		return ""
	}
	return " with token " + h.Token
}
