package checker

import (
	"fmt"
	"slices"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
	"lockcheck/checker/testkit"
)

// MutualExclusion is J1: pairs of holds by different clients that overlap, strictly.
func (o *oracle) mutualExclusion() map[string]bool {
	found := map[string]bool{}
	believed := make([]int64, len(o.holds))
	for i, h := range o.holds {
		believed[i] = o.believed(h)
	}
	for i, a := range o.holds {
		for j, b := range o.holds[:i] {
			if a.key == b.key && a.client != b.client && believed[i] != 0 && believed[j] != 0 &&
				max(a.done, b.done) < min(believed[i], believed[j]) {
				found[pairName(a.id, b.id)] = true
			}
		}
	}
	return found
}

func pairName(a, b string) string { return min(a, b) + "+" + max(a, b) }

// TokenMonotonicity is J2. A session that asks again before it has seen its first grant go may be answered with the same
// record, and its token.
func (o *oracle) tokenMonotonicity() map[string]bool {
	found := map[string]bool{}
	if len(o.misordered()) > 0 {
		found["violated"] = true
	}
	for _, c := range o.contradicted() {
		if o.provenOrder(c[0], c[1]) {
			found["violated"] = true
		}
	}
	return found
}

// contradicted are pairs of which the first has the greater token, and would have been granted while the second is proven to have held. None
// where tokens are known to prove no order.
func (o *oracle) contradicted() (found [][2]*fact) {
	misordered := o.misordered()
	for _, f := range o.holds {
		for _, g := range o.holds {
			if !misordered[f.key] && o.plan.Tokens == history.TokensOrdered && f.key == g.key && f.client != g.client && f.outcome == history.OK && g.outcome == history.OK &&
				testkit.Higher(f.token, g.token) && !f.before(g) && !g.before(f) && f.done < o.claimedUntil(g) &&
				max(f.done, g.done) >= min(max(o.protected(f), o.provenUntil(f)), max(o.protected(g), o.provenUntil(g))) {
				found = append(found, [2]*fact{f, g})
			}
		}
	}
	return found
}

func (o *oracle) provenOrder(f, g *fact) bool {
	answered := int64(model.Never)
	for _, a := range g.attempts {
		if o.proves(g, &a) && a.sent() > f.done && a.sent() <= o.provenUntil(g) {
			answered = min(answered, a.done)
		}
	}
	for _, h := range o.holds {
		if h != g && h.key == g.key && h.client == g.client && h.invoke < answered && mayBeOne(h.session, g.session) && h.outcome != history.Fail {
			return false
		}
	}
	return answered < model.Never && o.plan.Release == history.ReleaseChecked && !o.mayHaveTwo(f.invoke, answered)
}

func (o *oracle) mayHaveTwo(from, to int64) bool {
	if o.plan.Nodes != 1 {
		from = 0
	}
	return o.serviceDisturbed(from, to)
}

// disordered are the keys whose tokens prove no order.
func (o *oracle) disordered() map[string]bool {
	found := o.misordered()
	for _, c := range o.contradicted() {
		found[c[0].key] = true
	}
	return found
}

// misordered are the keys whose tokens were seen not to grow.
func (o *oracle) misordered() map[string]bool {
	found := map[string]bool{}
	for _, f := range o.holds {
		for _, g := range o.holds {
			if f == g || f.key != g.key || f.outcome != history.OK || g.outcome != history.OK || f.token == "" || g.token == "" {
				continue
			}
			equal := !testkit.Higher(f.token, g.token) && !testkit.Higher(g.token, f.token)
			switch {
			case equal && o.oneRecord(f, g):
			case equal, f.before(g) && testkit.Higher(f.token, g.token):
				found[f.key] = true
			}
		}
	}
	return found
}

func (o *oracle) oneRecord(f, g *fact) bool {
	if f.session == "" || f.session != g.session {
		return false
	}
	if f.done > g.done || f.done == g.done && number(f.id[1:]) > number(g.id[1:]) {
		f, g = g, f
	}
	return o.seenGone(f) > g.start()
}

// mayBeOneRecord: the same, told apart by their tokens where both have one.
func (o *oracle) mayBeOneRecord(f, g *fact) bool {
	return o.oneRecord(f, g) && !testkit.Higher(f.token, g.token) && !testkit.Higher(g.token, f.token)
}

// staleWrite is J3: writes by (a) and (b), and pairs of holds that interleave by (c), for each write all of them.
func (o *oracle) staleWrite() (proven map[int64]bool, either map[int64][]string) {
	proven, either = map[int64]bool{}, map[int64][]string{}
	disordered := o.disordered()
	for n, w := range o.requests {
		if w.Kind != history.KindWrite || w.Outcome != history.Applied {
			continue
		}
		h := o.hold(w.Hold)
		ordered := o.plan.Tokens == history.TokensOrdered && !disordered[w.Key]
		var log []history.Request // of this key, before w
		for _, q := range o.requests[:n] {
			if q.Key == w.Key && q.Outcome == history.Applied {
				log = append(log, q)
			}
		}
		for _, q := range log {
			g := o.hold(q.Hold)
			if g != h && (h.before(g) && !o.mayBeOneRecord(h, g) || ordered && testkit.Higher(g.token, h.token) && !g.before(h)) {
				proven[w.Seq] = true
			}
		}
		if proven[w.Seq] {
			continue
		}
		for i, first := range log {
			for _, between := range log[i+1:] {
				g := o.hold(between.Hold)
				if first.Hold != h.id || between.Kind != history.KindWrite || g == h {
					continue
				}
				byToken := ordered && (testkit.Higher(g.token, h.token) || testkit.Higher(h.token, g.token))
				if !g.before(h) && !h.before(g) && !byToken && !o.mayBeOneRecord(g, h) {
					either[w.Seq] = append(either[w.Seq], pairName(g.id, h.id))
				}
			}
		}
	}
	return proven, either
}

// LostUpdate is J4: values of acknowledged writes after the base of an applied write that is not built on the current
// value. A base that was never applied stands for the one it was built on itself.
func (o *oracle) lostUpdate() map[string]bool {
	found := map[string]bool{}
	bases, acknowledged := map[string]string{}, map[string]bool{}
	for _, h := range o.holds {
		for _, a := range h.accesses {
			if a.f == history.Write && a.outcome == history.OK {
				acknowledged[a.value] = true
			}
		}
	}
	for _, e := range o.events {
		if e.F == history.Write && e.Type == history.Invoke {
			bases[e.Value] = e.Base
		}
	}
	for n, w := range o.requests {
		if w.Kind != history.KindWrite || w.Outcome != history.Applied {
			continue
		}
		var values []string // applied to this key before w
		for _, q := range o.requests[:n] {
			if q.Key == w.Key && q.Kind == history.KindWrite && q.Outcome == history.Applied {
				values = append(values, q.Value)
			}
		}
		base, since := w.Base, -1
		for since < 0 {
			for i, v := range values {
				if v == base {
					since = i + 1
				}
			}
			if base == "" {
				since = max(since, 0)
			}
			base = bases[base]
		}
		for _, v := range values[since:] {
			if acknowledged[v] {
				found[v] = true
			}
		}
	}
	return found
}

// misplaced: compare-and-set accepted a write that was not built on the value.
func (o *oracle) misplaced() string {
	for n, w := range o.requests {
		value := ""
		for _, q := range o.requests[:n] {
			if q.Key == w.Key && q.Kind == history.KindWrite && q.Outcome == history.Applied {
				value = q.Value
			}
		}
		if w.Kind == history.KindWrite && w.Outcome == history.Applied && w.Base != value {
			return misplacedWrite
		}
	}
	return ""
}

// premature is J5: grants lost too early, by the earliest evidence, and whether the release of another hold is proven to
// have removed them.
func (o *oracle) premature() map[string]bool {
	found := map[string]bool{}
	for _, h := range o.holds {
		if at := o.lostEarly(h); at != model.Never {
			kind := string(model.EarlyExpiry)
			if o.removedByAnother(h, at) {
				kind = string(model.ReleaseByOwner)
			}
			found[h.id+" "+kind] = true
		}
	}
	return found
}

// earlyLossOf is the earliest evidence that a protected grant was gone; never if there is none.
func (o *oracle) lostEarly(h *fact) int64 {
	at := int64(model.Never)
	if h.outcome != history.OK {
		return at
	}
	ordered := o.plan.Tokens == history.TokensOrdered && !o.disordered()[h.key]
	// Another client's grant, certainly made after this one.
	for _, g := range o.holds {
		if g.key == h.key && g.client != h.client && g.outcome == history.OK && g.done < o.protected(h) &&
			(h.before(g) || ordered && testkit.Higher(g.token, h.token)) {
			at = min(at, g.done)
		}
	}
	// The service's own word. After the loss was told, what is answered may come from the tidying up.
	own := func(except int, ns int64) int64 {
		until := min(o.promised(h), o.stopped(h, except), o.tidying(h))
		if l := o.lost(h); l != 0 && ns > l {
			until = min(until, max(o.believed(h), h.done))
		}
		return until
	}
	if e := o.ended(h); e > h.done && e < own(-1, e) {
		at = min(at, e)
	}
	for i, a := range h.attempts {
		if until := own(i, a.done); a.notOwned() && a.invoke >= h.done && until > h.done && a.done < until {
			at = min(at, a.done)
		}
	}
	return at
}

// removedByAnother is the proof of release-by-owner: a release of another hold, certainly granted before this one, says that
// it removed a record, its deleting request was sent after h was read (and before the loss was seen), its own grant was unprotected by then, and its client
// does not declare that it checks. Of one that declares nothing it is proof only if no fault of a server or its clock was
// in effect since its own grant.
func (o *oracle) removedByAnother(h *fact, at int64) bool {
	if o.plan.Release == history.ReleaseChecked {
		return false
	}
	ordered := o.plan.Tokens == history.TokensOrdered && !o.disordered()[h.key]
	for _, q := range o.holds {
		if q == h || q.key != h.key || q.outcome != history.OK || !q.before(h) && !(ordered && testkit.Higher(h.token, q.token)) {
			continue
		}
		for i, r := range q.attempts {
			removed := r.answered() && (r.removed || r.owned != nil && *r.owned)
			if r.f == history.Release && removed && r.sent() > h.done && r.sent() < at && o.unprotected(q, i) && o.provenRemoval(q, h, r.sent(), r.done) {
				return true
			}
		}
		if sent, told := o.tidied(q); sent >= q.done && sent > h.done && sent < at && o.unprotectedAt(q, -1, sent) && o.provenRemoval(q, h, sent, told) {
			return true
		}
	}
	return false
}

// provenRemoval: nothing else can have been there than the record of h that a release of q, sent and answered, removed.
func (o *oracle) provenRemoval(q, h *fact, sent, done int64) bool {
	from := h.start()
	if o.plan.Release == "" {
		if from = q.start(); o.plan.Nodes != 1 {
			return false
		}
	}
	for _, x := range o.holds {
		if x == h || x == q || x.key != h.key || x.certainlyRefused() || x.start() >= done || x.before(h) {
			continue
		}
		if o.hadUntil(x) > sent {
			return false
		}
	}
	return !o.mayHaveTwo(from, done)
}

// tidied is when the library of a hold, unasked, sent the request that removed something, and when it told of that; 0 if never.
func (o *oracle) tidied(q *fact) (sent, told int64) {
	for _, e := range o.events {
		switch {
		case e.Hold != q.id:
		case e.F == history.Release:
			return 0, 0
		case e.F == history.Lost && e.Removed:
			return e.SeenNS, e.TimeNS
		case e.F == history.Lost:
			return 0, 0
		}
	}
	return 0, 0
}

// unprotected: the grant was not protected any more when one of its releases was sent, as far as was known then.
func (o *oracle) unprotected(q *fact, release int) bool {
	return o.unprotectedAt(q, release, q.attempts[release].sent())
}

func (o *oracle) unprotectedAt(q *fact, release int, sent int64) bool {
	until := min(o.promised(q), o.stopped(q, release))
	if l := o.lost(q); l != 0 && l <= sent {
		until = min(until, max(o.believed(q), q.done), o.tidying(q))
	}
	if e := o.ended(q); e != 0 && e <= sent {
		until = min(until, e)
	}
	if l := o.loss(q); l <= sent {
		until = min(until, l)
	}
	return until <= sent
}

// serviceDisturbed: a fault of a server or the service, or a step of the machine's clock, has a moment in common with
// the stretch.
func (o *oracle) serviceDisturbed(from, to int64) bool {
	last := o.events[len(o.events)-1].TimeNS
	for _, e := range o.events {
		switch {
		case e.F == history.ClockStep && e.FromNS <= to && e.TimeNS >= from:
			return true
		case e.Process != history.NemesisProcess || e.Type != history.Invoke || e.Heal || o.isClient(e.Target):
			continue
		}
		gone := last
		for _, healed := range o.events {
			if healed.Process == history.NemesisProcess && healed.Op == e.Op && healed.Heal && healed.Type == history.OK {
				gone = healed.TimeNS
			}
		}
		if e.TimeNS <= to && gone >= from {
			return true
		}
	}
	return false
}

func (o *oracle) isClient(name string) bool {
	return slices.ContainsFunc(o.events, func(e history.Event) bool { return e.Client == name })
}

func (o *oracle) String() (text string) {
	for _, e := range o.events {
		text += fmt.Sprintln(string(history.AppendEvent(nil, &e)))
	}
	for _, q := range o.requests {
		text += fmt.Sprintln(string(history.AppendRequest(nil, &q)))
	}
	return text
}
