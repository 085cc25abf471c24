package checker

import (
	"fmt"
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
	for _, w := range j.stale() {
		o.hits = append(o.hits, hit{w.key, w.write.handledNS, func() Finding { return j.staleFinding(w) }})
	}
	return o
}

func (j *judge) stale() []staleWrite {
	j.staleOnce.Do(func() {
		for _, k := range j.keys {
			j.staleWrites = append(j.staleWrites, j.staleOn(k)...)
		}
	})
	return j.staleWrites
}

// staleOn replays the resource's log of one key.
//
// (a) It is enough to know, of the holds seen so far, the one that was asked for last: if any was asked for after the
// writer had been granted, that one was.
// (b) Among holds with a greater token, the one granted last is the least likely to be older by (a): if the writer was
// not asked for after that one had been granted, it is newer by its token. A tree over the ranks of the tokens finds it.
func (j *judge) staleOn(k *keyView) (found []staleWrite) {
	log := staleLog{j: j, k: k, ranks: j.tokenRanks(k), highest: -1, since: make([]int32, len(k.acquires))}
	for at, a := range k.handled {
		if a.F == history.Write {
			if newer, why := log.judge(a, int32(at)); newer != nil {
				found = append(found, staleWrite{k.name, a, a.Hold, newer.Hold, newer, why})
			}
			log.writes = append(log.writes, int32(at))
		}
		log.take(a, int32(at))
	}
	return found
}

// staleLog is what the replay of one key's log has seen so far.
type staleLog struct {
	j                *judge
	k                *keyView
	youngest, writer *Access // of the hold asked for last, and of the one among those that wrote
	ranks            []int32 // of tokens, by hold; nil if tokens prove nothing
	highest          int32   // rank seen
	latest           *rankTree
	since            []int32 // by hold: where it was first handled, from 1; 0 if it was not yet
	writes           []int32 // where the writes are
	pairs            map[[2]*Hold]bool
}

// take adds a request to what has been seen.
func (l *staleLog) take(a *Access, at int32) {
	h := a.Hold
	if l.since[h.at] == 0 {
		l.since[h.at] = at + 1
		if rank := l.rank(h); rank >= 0 {
			l.raise(rank, a, at)
		}
	}
	if l.youngest == nil || h.startNS() > l.youngest.Hold.startNS() {
		l.youngest = a
	}
	if a.F == history.Write && (l.writer == nil || h.startNS() > l.writer.Hold.startNS()) {
		l.writer = a
	}
}

func (l *staleLog) rank(h *Hold) int32 {
	if l.ranks == nil {
		return -1
	}
	return l.ranks[h.at]
}

// raise notes that a hold of this rank has been handled. As long as ranks only rise, which is what a lock is for, nobody
// asks for a rank above another, and the tree is not made.
func (l *staleLog) raise(rank int32, a *Access, at int32) {
	if l.latest == nil && rank >= l.highest {
		l.highest = rank
		return
	}
	l.tree(at).raise(rank, a)
	l.highest = max(l.highest, rank)
}

// above is, of the holds of a greater rank than this, the one granted last; nil if there is none.
func (l *staleLog) above(rank, at int32) *Access {
	if rank >= l.highest {
		return nil
	}
	return l.tree(at).above(rank)
}

// tree is made of all that was handled before at, once it is needed.
func (l *staleLog) tree(at int32) *rankTree {
	if l.latest == nil {
		l.latest = &rankTree{make([]*Access, len(l.k.grants)+1)}
		for _, before := range l.k.handled[:at] {
			if r := l.rank(before.Hold); r >= 0 {
				l.latest.raise(r, before)
			}
		}
	}
	return l.latest
}

// judge looks for a proof that a write is stale. Of newer holders one that wrote makes the plainer proof.
func (l *staleLog) judge(w *Access, at int32) (newer *Access, why staleProof) {
	h := w.Hold
	for _, prior := range [2]*Access{l.writer, l.youngest} {
		if prior != nil && prior.Hold != h && h.followedBy(prior.Hold) {
			return prior, staleByTime
		}
	}
	if rank := l.rank(h); rank >= 0 {
		if prior := l.above(rank, at); prior != nil && !prior.Hold.followedBy(h) {
			return prior, staleByToken
		}
	}
	return l.between(w)
}

// between looks for a request of h, a write of g, this write of h, where nothing orders g and h: if g is the newer, this
// write is stale; if h is, the write of g was. Of g and h one is stale, which is one finding however often they go on.
func (l *staleLog) between(w *Access) (newer *Access, why staleProof) {
	h := w.Hold
	begin := l.since[h.at] - 1
	if begin < 0 || len(l.writes) == 0 || l.writes[len(l.writes)-1] < begin {
		return nil, staleEither
	}
	from, _ := slices.BinarySearch(l.writes, begin)
	for _, at := range l.writes[from:] {
		prior := l.k.handled[at]
		g := prior.Hold
		if g == h || h.followedBy(g) || g.followedBy(h) || l.tokensOrder(g, h) || l.pairs[[2]*Hold{g, h}] {
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

// tokensOrder tells whether the tokens of two holds say which is the newer.
func (l *staleLog) tokensOrder(g, h *Hold) bool {
	return l.ranks != nil && g.Token != "" && h.Token != "" && compareTokens(g.Token, h.Token) != 0
}

// tokenRanks numbers the different tokens of a key in their order, by hold; -1 for a hold without one, nil if tokens
// prove nothing.
func (j *judge) tokenRanks(k *keyView) []int32 {
	if !j.tokensProve(k) {
		return nil
	}
	ranks := make([]int32, len(k.acquires))
	for i := range ranks {
		ranks[i] = -1
	}
	byToken, risen := k.tokens()
	if !risen {
		byToken = slices.Clone(byToken)
		slices.SortStableFunc(byToken, func(a, b *Hold) int { return compareTokens(a.Token, b.Token) })
	}
	rank := int32(0)
	for i, g := range byToken {
		if i > 0 && (risen || compareTokens(byToken[i-1].Token, g.Token) != 0) {
			rank++
		}
		ranks[g.at] = rank
	}
	return ranks
}

// rankTree is a Fenwick tree over token ranks: the access whose hold was granted last, among all ranks above one.
type rankTree struct{ at []*Access }

func (t *rankTree) raise(rank int32, a *Access) {
	for i := len(t.at) - 1 - int(rank); i < len(t.at); i += i & -i {
		if t.at[i] == nil || a.Hold.grantedByNS() > t.at[i].Hold.grantedByNS() {
			t.at[i] = a
		}
	}
}

func (t *rankTree) above(rank int32) *Access {
	var best *Access
	for i := len(t.at) - 2 - int(rank); i > 0; i -= i & -i {
		if t.at[i] != nil && (best == nil || t.at[i].Hold.grantedByNS() > best.Hold.grantedByNS()) {
			best = t.at[i]
		}
	}
	return best
}

func (j *judge) staleFinding(w staleWrite) Finding {
	h, g := w.hold, w.newer
	f := Finding{Key: w.key, AtNS: w.write.handledNS, Requests: []int64{w.prior.Seq(), w.write.Seq()}}
	f.FromNS, f.ToNS = min(h.DoneNS, g.DoneNS), max(w.write.handledNS, g.DoneNS)
	if w.why == staleEither {
		f.Summary = fmt.Sprintf("the storage applied writes of %s and %s to %s in turn: one of the two wrote under a lock it had lost", h.Client, g.Client, w.key)
	} else {
		f.Summary = fmt.Sprintf("%s wrote %s%s after the newer holder %s%s had used it: accepted", h.Client, w.key, withToken(h), g.Client, withToken(g))
	}
	f.Cause = j.cause(h, g, w.write.handledNS)
	s := j.story(&f, h, g)
	s.accessedAs(w.write, lookedWords[j.m.Plan.Guard])
	s.accessed(w.prior)
	s.finish()
	return f
}

// lookedWords say what a write that was sent proves of its client's care, by the guard of the plan (rule R9).
var lookedWords = map[string]string{
	"before-work":  "its client had looked at its lock before the work, and still held it",
	"before-write": "its client had looked at its lock again just before it sent this, and still held it; no care of the client's could have avoided it",
}

func withToken(h *Hold) string {
	if h.Token == "" {
		return ""
	}
	return " with token " + h.Token
}
