package checker

import (
	"cmp"
	"fmt"
	"sort"

	"lockcheck/checker/history"
)

// premature is a grant that was lost before its acknowledged lease could have run out (J5).
type premature struct {
	key     string
	hold    *Hold
	untilNS int64    // it was protected until here
	atNS    int64    // it was gone by here
	by      *Hold    // another client's grant that proves it; nil if the service said so itself
	answer  string   // the service's own, in words; "" if by proves it
	removed *removal // the release of another hold that is proven to have removed it; nil if none is
	perhaps *removal // one that may have, where none is proven to
}

type prematureOutcome struct {
	found         []premature
	protected     int
	notApplicable string
}

func (j *judge) earlyExpiry() outcome {
	o := j.prematureOutcome(func(p premature) bool { return p.removed == nil })
	for _, k := range j.keys {
		if j.ordered() && len(k.tokens().contradicted) > 0 {
			g := k.tokens().contradicted[0].then
			o.inconclusive = fmt.Sprintf("whether %s lost %s%s early is not known: by the tokens it did, and by an answer of the service it did not", g.Client, k.name, withToken(g))
		}
	}
	return o
}

func (j *judge) releaseByOwner() outcome {
	return j.prematureOutcome(func(p premature) bool { return p.removed != nil })
}

func (j *judge) prematureOutcome(of func(premature) bool) outcome {
	all := j.prematures()
	o := outcome{notApplicable: all.notApplicable}
	for _, p := range all.found {
		if of(p) {
			o.hits = append(o.hits, hit{p.key, p.atNS, p.hold.ID, func() Finding { return j.prematureFinding(p) }})
		}
	}
	return o
}

// prematures finds each protected grant that was lost too early, with the earliest evidence of it.
func (j *judge) prematures() *prematureOutcome {
	j.prematureOnce.Do(func() { j.premature = j.findPrematures() })
	return &j.premature
}

func (j *judge) findPrematures() (all prematureOutcome) {
	for _, k := range j.keys {
		before := len(all.found)
		for i, h := range k.grants {
			p, protected := j.lostEarly(k, i)
			if protected {
				all.protected++
			}
			if p != nil {
				p.key, p.hold = k.name, h
				all.found = append(all.found, *p)
			}
		}
		j.removals(k, all.found[before:])
	}
	switch {
	case !j.m.Plan.SameKernel:
		all.notApplicable = j.m.Plan.ElsewhereWords() + ": their clock cannot be compared with the harness's"
	case all.protected == 0:
		all.notApplicable = "no grant was protected by a lease that the service had acknowledged"
	}
	return all
}

// lostEarly looks for evidence that the i-th grant of a key was gone before its protection ended.
//
// Another client's grant is evidence only if it was certainly made after this one: it was asked for after this one had
// been read, or its token is greater, whichever of the two was read first. Without that, a grant that was made first and
// read late would accuse a correct lock. Both were made before their completions were read, so a completion before the
// end of the protection proves that the service gave the lock away while it was promised. Stamps bound these moments
// from the safe side, even if a process stood still in between; what a stall does to the promise itself is taken off in
// leaseUntil.
//
// The service's own answer is evidence if nothing else can explain it: a release answered "not owned" did nothing, so
// the protection counted against it is the one that every other release leaves.
func (j *judge) lostEarly(k *keyView, i int) (found *premature, protected bool) {
	h := k.grants[i]
	note := func(p premature) {
		if found == nil || p.atNS < found.atNS {
			found = &p
		}
	}
	if h.LeaseNS != 0 {
		protected = true
		if newer := cmp.Or(j.newerReadBefore(k, i), j.newerReadAfter(k, i)); newer != nil {
			note(premature{untilNS: h.LeaseNS, atNS: newer.DoneNS, by: newer})
		}
	}
	if h.EndedNS > h.DoneNS {
		if until := j.m.ownProtection(h, nil, h.EndedNS); h.EndedNS < until {
			protected = true
			note(premature{untilNS: until, atNS: h.EndedNS, answer: "said that its lease was gone"})
		}
	}
	for _, a := range h.Attempts {
		if !a.NotOwned() || a.InvokeNS < h.DoneNS {
			continue
		}
		until := j.m.ownProtection(h, a, a.DoneNS)
		if until > h.DoneNS && a.DoneNS < until {
			protected = true
			note(premature{untilNS: until, atNS: a.DoneNS, answer: fmt.Sprintf("answered its %s with \"not owned\"", a.F)})
		}
	}
	return found, protected
}

// newerReadAfter is the first grant of another client, of those read after the i-th and before its protection ended, that
// was certainly made after it; nil if there is none.
func (j *judge) newerReadAfter(k *keyView, i int) *Hold {
	h := k.grants[i]
	for _, g := range k.grants[i+1:] {
		if g.DoneNS >= h.LeaseNS {
			return nil
		}
		if g.Client != h.Client && j.certainlyLater(k, h, g) {
			return g
		}
	}
	return nil
}

// newerReadBefore is the first grant of another client that was read before the i-th although it was made later: where
// tokens prove an order, one with a greater token. nil if there is none.
//
// A grant whose token is greater than all before it (it leads) has none. The first of all with a token greater than one
// leads, so a binary search finds it.
func (j *judge) newerReadBefore(k *keyView, i int) *Hold {
	h := k.grants[i]
	if h.Token == "" || !j.tokensProve(k) {
		return nil
	}
	leads := k.tokens().behind
	if leads.leader(i) == i {
		return nil
	}
	greater := func(g *Hold) bool { return g.Token != "" && compareTokens(g.Token, h.Token) > 0 }
	first := sort.Search(i, func(n int) bool {
		at := leads.leader(n)
		return at >= 0 && greater(k.grants[at])
	})
	for _, g := range k.grants[first:i] {
		if g.Client != h.Client && greater(g) {
			return g
		}
	}
	return nil
}

// byTokens is said where nothing but their tokens shows which of two grants is the later.
const byTokens = ", after it by their tokens"

func (j *judge) prematureFinding(p premature) Finding {
	h := p.hold
	how := fmt.Sprintf("the service %s", p.answer)
	if p.by != nil {
		how = fmt.Sprintf("%s was granted it%s", p.by.Client, withToken(p.by))
		if !h.followedBy(p.by) {
			how += byTokens
		}
	}
	lease := j.m.leaseBy(h, p.atNS, p.untilNS)
	f := Finding{
		Key: p.key, AtNS: p.atNS, FromNS: min(h.DoneNS, p.atNS), ToNS: max(p.untilNS, p.atNS),
		Summary: fmt.Sprintf("%s lost %s%s by %s although its lease, as acknowledged, ran until %s: %s", h.Client, p.key, withToken(h), history.Moment(p.atNS), history.Moment(lease), how),
		Cause:   j.earlyCause(h, p.by, p.atNS),
	}
	s := j.story(&f, h, p.by)
	s.add(lease, nil, 0, "until here the lease of %s ran, as acknowledged", h.Client)
	if p.by == nil {
		s.add(p.atNS, nil, 0, "the service %s", p.answer)
	}
	if r := p.removed; r != nil {
		f.Summary += "; " + r.words("it")
		s.removal(r)
	} else if r := p.perhaps; r != nil {
		may := fmt.Sprintf("the %s of %s may be why", r.noun(), r.hold.Client)
		f.Summary += "; " + may
		if f.Cause.Unexplained() {
			f.Cause = Cause{Kind: mayBeRelease, Text: may}
		} else {
			f.Cause.Text += "; " + may
		}
		s.removal(r)
	}
	s.answers(h)
	s.finish()
	return f
}

// leaseBy is until when the lease of a hold ran, as acknowledged by a moment at which it did: protection may stop before
// that, with the hold's own release. Where that is known of a later acknowledgement only, it is until the protection's
// end at least.
func (m *Model) leaseBy(h *Hold, ns, protectedNS int64) int64 {
	if earliest, _ := m.leaseAt(h, ns); earliest > ns {
		return earliest
	}
	return protectedNS
}
