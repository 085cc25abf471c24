package property

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"lockcheck/checker/explain"
	"lockcheck/checker/history"
	"lockcheck/checker/model"
)

// LateWrite is a write that the resource applied for hold after it had handled a request of a newer hold.
type LateWrite struct {
	key   string
	Write *model.Access
	Hold  *model.Hold
	Newer *model.Hold
	Prior *model.Access // of newer, handled before write
	Why   lateProof
}

// lateProof says what orders the two holds.
type lateProof int

const (
	lateByTime  lateProof = iota // newer was asked for after hold had been granted
	lateByToken                  // newer has the greater token, and time does not say otherwise
	EitherLate                   // nothing orders them, but they interleave: one of the two is stale
)

// StaleWrite is rule J3. Which request came first is the resource's own order, without any clock.
func (j *Judge) StaleWrite() Outcome {
	var o Outcome
	if by := j.m.Plan.Compares(); by.OrdersWrites() {
		o.NotApplicable = map[history.Comparison]string{
			history.CompareBases: "what order writes must have is decided by compare-and-set, not by who holds the lock",
			history.CompareKeys:  "which record of a slot counts is decided by its idempotency key, not by who holds the lock",
		}[by]
		return o
	}
	o.Inconclusive = j.m.Untrusted()
	for _, w := range j.LateWrites() {
		old, _ := j.superseded(w)
		o.add(w.key, w.Write.HandledNS, old.ID, func() model.Finding { return j.staleFinding(w) })
	}
	return o
}

// LateWrites are the stale writes; none where compare-and-set gives writes their order, or keys say which one counts.
func (j *Judge) LateWrites() []LateWrite {
	j.lateOnce.Do(func() {
		if j.m.Plan.Compares().OrdersWrites() {
			return
		}
		for _, k := range j.keys {
			j.lateWrites = append(j.lateWrites, j.staleOn(k)...)
		}
	})
	return j.lateWrites
}

// staleOn replays the resource's log of one key, and keeps of it no more than there are clients:
//
// (a) It is enough to know, of the holds seen so far, the one that was asked for last: if any was asked for after the
// writer had been granted, that one was. It may be the writer's own record once more (SameRecord); so the last of
// another session is kept, too.
// (b) Among holds with a greater token, the one granted last is the least likely to be older by (a): if the writer was
// not asked for after that one had been granted, it is newer by its token (see ranking).
func (j *Judge) staleOn(k *model.Lock) (found []LateWrite) {
	log := staleLog{k: k, tokens: j.m.TokensProve(k)}
	for at, a := range k.Handled {
		if a.F == history.Write {
			if newer, why := log.judge(a, at); newer != nil {
				found = append(found, LateWrite{k.Name, a, a.Hold, newer.Hold, newer, why})
			}
		}
		log.take(a)
	}
	return found
}

// staleLog is what the replay of one key's log has seen so far.
type staleLog struct {
	k                *model.Lock
	youngest, writer latest // of the hold asked for last, and of the one among those that wrote
	tokens           bool   // they prove an order
	ranking          ranking
	ranked           *model.Hold             // the last one that was ranked
	pairs            map[[2]*model.Hold]bool // told of already
}

// latest is the access of the hold that was asked for last, and of the last one of another session than that.
type latest struct{ first, other *model.Access }

func (l *latest) take(a *model.Access) {
	if l.first != nil && l.first.Hold == a.Hold {
		return
	}
	apart := func(b *model.Access) bool { return a.Hold.Session == "" || a.Hold.Session != b.Hold.Session }
	later := func(b *model.Access) bool { return b == nil || a.Hold.StartNS() > b.Hold.StartNS() }
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
func (l *latest) newerThan(h *model.Hold) *model.Access {
	for _, a := range [2]*model.Access{l.first, l.other} {
		if a != nil && a.Hold != h && h.FollowedBy(a.Hold) && !model.SameRecord(h, a.Hold) {
			return a
		}
	}
	return nil
}

// take adds a request to what has been seen.
func (l *staleLog) take(a *model.Access) {
	h := a.Hold
	if l.tokens && h != l.ranked && h.Tokened() { // a hold's first request decides its rank
		l.ranking.take(a)
		l.ranked = h
	}
	l.youngest.take(a)
	if a.F == history.Write {
		l.writer.take(a)
	}
}

// judge looks for a proof that a write is stale. Of newer holders one that wrote makes the plainer proof.
func (l *staleLog) judge(w *model.Access, at int) (newer *model.Access, why lateProof) {
	h := w.Hold
	if prior := cmp.Or(l.writer.newerThan(h), l.youngest.newerThan(h)); prior != nil {
		return prior, lateByTime
	}
	if l.tokens && h.Tokened() {
		if prior := l.ranking.above(h.Token); prior != nil && !prior.Hold.FollowedBy(h) {
			return prior, lateByToken
		}
	}
	return l.between(w, at)
}

// between looks for a request of h, a write of g, this write of h, where nothing orders g and h: if g is the newer, this
// write is stale; if h is, the write of g was. Of g and h one is stale, which is one finding however often they go on.
func (l *staleLog) between(w *model.Access, at int) (newer *model.Access, why lateProof) {
	h, begin := w.Hold, at
	for since := firstHandled(h); begin > 0 && l.k.Handled[begin-1].Handled > since; {
		begin--
	}
	for _, prior := range l.k.Handled[begin:at] {
		g := prior.Hold
		if prior.F != history.Write || g == h || h.FollowedBy(g) || g.FollowedBy(h) || l.tokensOrder(g, h) || model.MayShareRecord(g, h) || l.pairs[[2]*model.Hold{g, h}] {
			continue
		}
		if l.pairs == nil {
			l.pairs = map[[2]*model.Hold]bool{}
		}
		l.pairs[[2]*model.Hold{g, h}], l.pairs[[2]*model.Hold{h, g}] = true, true
		return prior, EitherLate
	}
	return nil, EitherLate
}

// firstHandled is where in the resource's log the first request of a hold is that was applied.
func firstHandled(h *model.Hold) int32 {
	first := int32(math.MaxInt32)
	for _, a := range h.Accesses {
		if a.Applied {
			first = min(first, a.Handled)
		}
	}
	return first
}

// tokensOrder reports whether the tokens of two holds say which is the newer.
func (l *staleLog) tokensOrder(g, h *model.Hold) bool {
	return l.tokens && g.Token != "" && h.Token != "" && model.CompareTokens(g.Token, h.Token) != 0
}

// ranking finds, of the requests seen so far, the one whose hold was granted last among those with a greater token than
// one. Of two holds, that with the lower token is of no use if it was granted before the other, and is not kept. So those
// that are kept, by falling tokens, were granted in that order; and where tokens prove an order (J2 holds) each of them was
// still waiting when the first was granted, or it would have been asked for later and have a greater token. So there is
// no more than one for each acquire that was pending at one moment, and one.
type ranking []*model.Access

func (r *ranking) take(a *model.Access) {
	h, list := a.Hold, *r
	at := list.after(h.Token, -1)
	if at > 0 && list[at-1].Hold.GrantedByNS() >= h.GrantedByNS() {
		return
	}
	useless := at
	for useless < len(list) && list[useless].Hold.GrantedByNS() < h.GrantedByNS() {
		useless++
	}
	*r = slices.Replace(list, at, useless, a)
}

// above is, of the holds with a greater token than this, the one granted last, and of several the one that was handled
// first; nil if there is none.
func (r ranking) above(token string) (best *model.Access) {
	for _, a := range slices.Backward(r[:r.after(token, 0)]) {
		if best != nil && a.Hold.GrantedByNS() < best.Hold.GrantedByNS() {
			break
		}
		if best == nil || a.Handled < best.Handled {
			best = a
		}
	}
	return best
}

// after counts those whose token compares to one greater than so.
func (r ranking) after(token string, than int) int {
	n := 0
	for n < len(r) && model.CompareTokens(r[n].Hold.Token, token) > than {
		n++
	}
	return n
}

// superseded are the two holds of a stale write, the older one first. Where nothing orders them it may have lost the lock all the same.
func (j *Judge) superseded(w LateWrite) (old, young *model.Hold) {
	if w.Why == EitherLate {
		return j.m.Older(j.m.KeyNamed(w.key), w.Hold, w.Newer)
	}
	return w.Hold, w.Newer
}

// Superseding are the older holds of the stale writes, one for each.
func (j *Judge) Superseding() (holds []*model.Hold) {
	for _, w := range j.LateWrites() {
		old, _ := j.superseded(w)
		holds = append(holds, old)
	}
	return holds
}

func (j *Judge) staleFinding(w LateWrite) model.Finding {
	h, g := w.Hold, w.Newer
	f := model.Finding{Key: w.key, AtNS: w.Write.HandledNS, Requests: []int64{w.Prior.Seq(), w.Write.Seq()}}
	f.FromNS, f.ToNS = min(h.DoneNS, g.DoneNS), max(w.Write.HandledNS, g.DoneNS)
	if w.Why == EitherLate {
		f.Summary = fmt.Sprintf("the resource applied writes of %s and %s to %s in turn: one of the two wrote under a lock it had lost", h.Client, g.Client, w.key)
	} else {
		f.Summary = fmt.Sprintf("%s wrote %s%s after the newer holder %s%s had used it: accepted", h.Client, w.key, explain.WithToken(h), g.Client, explain.WithToken(g))
	}
	old, young := j.superseded(w)
	f.Cause = explain.LossCause(j.m, old, young, w.Write.HandledNS)
	s := explain.NewStory(j.m, &f, old, young)
	guard, _ := history.GuardNamed(history.Guard(j.m.Plan.Guard))
	s.AccessedAs(w.Write, guard.Looked)
	s.Accessed(w.Prior)
	s.Finish()
	return f
}

// StableStaleWrite tells which findings are stable: one of the two was asked for after the other had been granted, or nothing orders them:
// not their tokens, either.
func (j *Judge) StableStaleWrite() func(*model.Finding) bool {
	return func(f *model.Finding) bool {
		holds := j.watch.named(j.m, f)
		if len(holds) != 2 {
			return false
		}
		g, h := holds[0], holds[1]
		if g.FollowedBy(h) || h.FollowedBy(g) {
			return true
		}
		return !j.m.TokensProve(j.m.KeyNamed(f.Key)) || !g.Tokened() || !h.Tokened() || model.CompareTokens(g.Token, h.Token) == 0
	}
}

// WritesTested says what a pass lacks: a write is late only after a request of another hold.
func (j *Judge) WritesTested() string {
	if j.used(func(writes, _, _ int) bool { return writes > 0 }) {
		return ""
	}
	return "the resource handled no write on a lock that two holds used, so none could be stale"
}
