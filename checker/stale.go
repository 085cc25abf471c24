package checker

import (
	"fmt"
	"slices"

	"lockcheck/checker/history"
)

// staleWrite is a write that the resource applied for hold after it had handled a request of a newer hold.
type staleWrite struct {
	key   string
	write *history.Request
	hold  *Hold
	newer *Hold
	prior *history.Request // of newer, handled before write
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
		o.hits = append(o.hits, hit{w.key, w.write.TimeNS, func() Finding { return j.staleFinding(w) }})
	}
	return o
}

func (j *judge) stale() []staleWrite {
	if j.staleWrites == nil {
		var all []staleWrite
		for _, k := range j.keys {
			all = append(all, j.staleOn(k)...)
		}
		j.staleWrites = &all
	}
	return *j.staleWrites
}

// staleOn replays the resource's log of one key.
//
// (a) It is enough to know, of the holds seen so far, the one that was asked for last: if any was asked for after the
// writer had been granted, that one was.
// (b) Among holds with a greater token, the one granted last is the least likely to be older by (a): if the writer was
// not asked for after that one had been granted, it is newer by its token. A tree over the ranks of the tokens finds it.
func (j *judge) staleOn(k *keyView) (found []staleWrite) {
	ranks := j.tokenRanks(k)
	latest := newRankTree(len(ranks))
	var youngest, writer *history.Request // of the hold asked for last, and of the one among those that wrote
	var seen seenWrites
	for at, q := range k.handled {
		h := j.holds[q.Hold]
		if q.Kind == history.KindWrite {
			if w, ok := j.judgeWrite(k, q, h, [2]*history.Request{writer, youngest}, latest, ranks, &seen, at); ok {
				found = append(found, w)
			}
			seen.writes = append(seen.writes, at)
		}
		seen.first(h, at)
		if youngest == nil || h.startNS() > j.holds[youngest.Hold].startNS() {
			youngest = q
		}
		if q.Kind == history.KindWrite && (writer == nil || h.startNS() > j.holds[writer.Hold].startNS()) {
			writer = q
		}
		if rank, ok := ranks[bare(h.Token)]; ok && h.Token != "" {
			latest.raise(rank, q, h.grantedByNS())
		}
	}
	return found
}

// judgeWrite looks for a proof that a write is stale. Of newer holders one that wrote makes the plainer proof.
func (j *judge) judgeWrite(k *keyView, q *history.Request, h *Hold, newer [2]*history.Request, latest *rankTree, ranks map[string]int,
	seen *seenWrites, at int) (staleWrite, bool) {
	for _, prior := range newer {
		if prior == nil {
			continue
		}
		if g := j.holds[prior.Hold]; g != h && h.followedBy(g) {
			return staleWrite{k.name, q, h, g, prior, staleByTime}, true
		}
	}
	if rank, ok := ranks[bare(h.Token)]; ok && h.Token != "" {
		if prior := latest.above(rank); prior != nil {
			if g := j.holds[prior.Hold]; !g.followedBy(h) {
				return staleWrite{k.name, q, h, g, prior, staleByToken}, true
			}
		}
	}
	// A request of h, a write of g, this write of h, and nothing orders g and h: if g is the newer, this write is stale;
	// if h is, the write of g was.
	begin, ok := seen.since[h]
	if !ok {
		return staleWrite{}, false
	}
	from, _ := slices.BinarySearch(seen.writes, begin)
	for _, between := range seen.writes[from:] {
		prior := k.handled[between]
		g := j.holds[prior.Hold]
		if g == h || h.followedBy(g) || g.followedBy(h) || j.tokensOrder(g, h) || seen.pairs[[2]*Hold{g, h}] {
			continue
		}
		seen.pair(g, h)
		return staleWrite{k.name, q, h, g, prior, staleEither}, true
	}
	return staleWrite{}, false
}

// tokensOrder tells whether the tokens of two holds say which is the newer.
func (j *judge) tokensOrder(g, h *Hold) bool {
	return j.ordered() && g.Token != "" && h.Token != "" && compareTokens(g.Token, h.Token) != 0
}

// tokenRanks numbers the different tokens of a key in their order; empty if tokens prove nothing.
func (j *judge) tokenRanks(k *keyView) map[string]int {
	ranks := map[string]int{}
	if !j.ordered() {
		return ranks
	}
	var tokens []string
	for _, g := range k.grants {
		if g.Token != "" {
			tokens = append(tokens, bare(g.Token))
		}
	}
	slices.SortFunc(tokens, compareTokens)
	for i, t := range slices.Compact(tokens) {
		ranks[t] = i
	}
	return ranks
}

// seenWrites is where in the log each hold was first handled, and where the writes are.
type seenWrites struct {
	since  map[*Hold]int
	writes []int
	pairs  map[[2]*Hold]bool // interleaved holds that were told of
}

func (s *seenWrites) first(h *Hold, at int) {
	if s.since == nil {
		s.since = map[*Hold]int{}
	}
	if _, ok := s.since[h]; !ok {
		s.since[h] = at
	}
}

// pair remembers both orders: of g and h one is stale, which is one finding however often they go on.
func (s *seenWrites) pair(g, h *Hold) {
	if s.pairs == nil {
		s.pairs = map[[2]*Hold]bool{}
	}
	s.pairs[[2]*Hold{g, h}], s.pairs[[2]*Hold{h, g}] = true, true
}

// rankTree is a Fenwick tree over token ranks: the request whose hold was granted last, among all ranks above one.
type rankTree struct {
	at   []*history.Request
	done []int64
}

func newRankTree(n int) *rankTree {
	return &rankTree{make([]*history.Request, n+1), make([]int64, n+1)}
}

func (t *rankTree) raise(rank int, q *history.Request, doneNS int64) {
	for i := len(t.at) - 1 - rank; i < len(t.at); i += i & -i {
		if t.at[i] == nil || doneNS > t.done[i] {
			t.at[i], t.done[i] = q, doneNS
		}
	}
}

func (t *rankTree) above(rank int) *history.Request {
	var best *history.Request
	done := int64(-1)
	for i := len(t.at) - 2 - rank; i > 0; i -= i & -i {
		if t.at[i] != nil && t.done[i] > done {
			best, done = t.at[i], t.done[i]
		}
	}
	return best
}

func (j *judge) staleFinding(w staleWrite) Finding {
	h, g := w.hold, w.newer
	f := Finding{Key: w.key, AtNS: w.write.TimeNS, Requests: []int64{w.prior.Seq, w.write.Seq}}
	f.FromNS, f.ToNS = min(h.DoneNS, g.DoneNS), max(w.write.TimeNS, g.DoneNS)
	if w.why == staleEither {
		f.Summary = fmt.Sprintf("the storage applied writes of %s and %s to %s in turn: one of the two wrote under a lock it had lost", h.Client, g.Client, w.key)
	} else {
		f.Summary = fmt.Sprintf("%s wrote %s%s after the newer holder %s%s had used it: accepted", h.Client, w.key, withToken(h), g.Client, withToken(g))
	}
	f.Cause = j.cause(h, g, w.write.TimeNS)
	s := j.story(&f, h, g)
	s.accessed(w.write)
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
