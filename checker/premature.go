package checker

import "fmt"

// premature is a grant that was lost before its acknowledged lease could have run out (J5).
type premature struct {
	key     string
	hold    *Hold
	untilNS int64 // it was protected until here
	atNS    int64 // it was gone by here
	by      *Hold // another client's grant that proves it; nil if the service said so itself
	said    string
	other   *pending // somebody's release or clean-up that was under way; nil if there was none
}

// pending is a release or clean-up that may have removed what was not its own.
type pending struct {
	hold    *Hold // nil for the closing of a session
	client  string
	what    string
	fromNS  int64
	toNS    int64
	confess bool // it reports having removed a record; that of its own hold was gone
	aimless bool // it does not report having removed the record of its own hold
}

// lostSince is from when on a pending clean-up may have removed the grant of h. A grant that was read late was made before,
// so what was pending while it was asked for counts, too; but not the release that made room for it, which removed a
// record of its own.
func (h *Hold) lostSince(aimless bool) int64 {
	if aimless {
		return h.startNS()
	}
	return h.DoneNS
}

type prematureOutcome struct {
	found         []premature
	protected     int
	notApplicable string
}

func (j *judge) earlyExpiry() outcome {
	return j.prematureOutcome(func(p premature) bool { return p.other == nil })
}

func (j *judge) releaseByOwner() outcome {
	return j.prematureOutcome(func(p premature) bool { return p.other != nil })
}

func (j *judge) prematureOutcome(of func(premature) bool) outcome {
	all := j.prematures()
	o := outcome{notApplicable: all.notApplicable}
	for _, p := range all.found {
		if of(p) {
			o.hits = append(o.hits, hit{p.key, p.atNS, func() Finding { return j.prematureFinding(p) }})
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
		j.removers(k, all.found[before:])
	}
	switch {
	case !j.m.Plan.SameKernel:
		all.notApplicable = "the servers run on another machine: their clock cannot be compared with the harness's"
	case all.protected == 0:
		all.notApplicable = "no grant was protected by a lease that the service had acknowledged"
	}
	return all
}

// lostEarly looks for evidence that the i-th grant of a key was gone before its protection ended.
//
// Another client's grant is evidence only if it was certainly made after this one: it was asked for after this one had
// been read, or its token is greater and it completed later. Without that, a grant that was made first and read late
// would accuse a correct lock. Both were made before their completions were read, so a completion before the end of the
// protection proves that the service gave the lock away while it was promised. Stamps bound these moments from the safe
// side whatever stood still in between; what a stall does to the promise itself is taken off in leaseUntil.
//
// The service's own answer is evidence if nothing else can explain it: a release answered "not owned" did nothing, so
// the protection counted against it is the one that every other release leaves.
func (j *judge) lostEarly(k *keyView, i int) (found *premature, protected bool) {
	h := k.grants[i]
	tell := func(p premature) {
		if found == nil || p.atNS < found.atNS {
			found = &p
		}
	}
	if h.LeaseNS != 0 {
		protected = true
		for _, g := range k.grants[i+1:] {
			if g.DoneNS >= h.LeaseNS {
				break
			}
			after := h.followedBy(g) || j.tokensProve(k) && g.Token != "" && h.Token != "" && g.DoneNS > h.DoneNS && compareTokens(g.Token, h.Token) > 0
			if g.Client != h.Client && after {
				tell(premature{untilNS: h.LeaseNS, atNS: g.DoneNS, by: g})
				break
			}
		}
	}
	if until := j.m.ownProtection(h, nil, h.EndedNS); h.EndedNS > h.DoneNS && h.EndedNS < until {
		protected = true
		tell(premature{untilNS: until, atNS: h.EndedNS, said: "said that its lease was gone"})
	}
	for _, a := range h.Attempts {
		if !a.NotOwned() || a.InvokeNS < h.DoneNS {
			continue
		}
		until := j.m.ownProtection(h, a, a.DoneNS)
		if until > h.DoneNS && a.DoneNS < until {
			protected = true
			tell(premature{untilNS: until, atNS: a.DoneNS, said: fmt.Sprintf("answered its %s with \"not owned\"", a.F)})
		}
	}
	return found, protected
}

// prematureCause names the clean-up that may have freed the grant before the fault that led to it, if one did: one that hit
// whoever cleaned up what was no longer its own, or else one that coincides.
func (j *judge) prematureCause(p premature) Cause {
	c := p.other
	if c == nil {
		return j.cause(p.hold, p.by, p.atNS)
	}
	led := unexplained
	if c.hold != nil {
		led = j.cause(c.hold, p.hold, p.atNS)
	}
	if led == unexplained {
		led = j.cause(p.hold, p.by, p.atNS)
	}
	what, whose := c.what, "another client"
	if c.hold == nil {
		what = "closing of a session"
	}
	if c.client == p.hold.Client {
		whose = "the same client"
	}
	did := "was under way and may have freed it"
	if c.confess {
		did = "freed it: its own hold had been lost before, and it reports having removed a record"
	}
	return Cause{Fault: led.Fault, Kind: what + " by " + whose,
		Text: fmt.Sprintf("%s's %s, begun at %s, %s; %s", c.client, c.what, clock(c.fromNS), did, led.Text)}
}

func (j *judge) prematureFinding(p premature) Finding {
	h := p.hold
	how := fmt.Sprintf("the service %s", p.said)
	if p.by != nil {
		how = fmt.Sprintf("%s was granted it%s", p.by.Client, withToken(p.by))
	}
	f := Finding{
		Key: p.key, AtNS: p.atNS, FromNS: h.DoneNS, ToNS: max(p.untilNS, p.atNS),
		Summary: fmt.Sprintf("%s lost %s%s at %s although its acknowledged lease ran until %s: %s", h.Client, p.key, withToken(h), clock(p.atNS), clock(p.untilNS), how),
		Cause:   j.prematureCause(p),
	}
	s := j.story(&f, h, p.by)
	s.add(p.untilNS, nil, 0, "only here could the acknowledged lease of %s have run out", h.Client)
	if p.by == nil {
		s.add(p.atNS, nil, 0, "the service %s", p.said)
	}
	if c := p.other; c != nil {
		verb := "coincides with"
		if c.confess {
			verb = "was removed by"
		}
		f.Summary += fmt.Sprintf("; this %s the %s of %s", verb, c.what, c.client)
		s.add(c.fromNS, nil, 0, "the %s of %s began", c.what, c.client)
		if c.hold != nil && c.hold != p.by {
			f.Holds = append([]string{c.hold.ID}, f.Holds...)
		}
	}
	s.finish()
	return f
}
