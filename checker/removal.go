package checker

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"

	"lockcheck/checker/history"
)

// removal is a release that removed a record which cannot have been its own hold's (J5): it says that it removed one, its
// deleting request was sent after another grant had been read that was certainly made later than its own, its own hold was
// not protected any more, and its client does not compare and delete in one step. What a library tidies up by itself, before it tells
// its user of a loss, counts like a release that was asked for.
type removal struct {
	hold    *Hold
	attempt *Attempt
	unasked bool
	sentNS  int64 // the request that deletes was sent no earlier
	kind    history.ReleaseKind
	// leaseOver: its own lease, as acknowledged, had run out by then.
	leaseOver bool
}

// removals names, for each of a key's grants that were lost early, the release of another hold that removed it, where
// that is proven: the first that was sent after the grant had been read, and before the loss was seen. What else was
// pending at the time proves nothing. A client that compares before it deletes is never named; nor is one whose own grant
// may have been made after the lost one, because the record that it removed is then its own, even if its lease is known to have
// ended.
func (j *judge) removals(k *keyView, lost []premature) {
	if len(lost) == 0 || j.m.looks() {
		return
	}
	var all []removal
	for _, h := range k.grants {
		for _, a := range h.Attempts {
			if r, ok := j.removalBy(h, a); ok {
				all = append(all, r)
			}
		}
		if a := h.cleanup(); a != nil {
			if r, ok := j.removalBy(h, a); ok {
				r.unasked = true
				all = append(all, r)
			}
		}
	}
	sortInOrder(all, func(a, b removal) int { return cmp.Compare(a.sentNS, b.sentNS) })
	for i := range lost {
		p := &lost[i]
		from, _ := slices.BinarySearchFunc(all, p.hold.DoneNS+1, func(r removal, ns int64) int { return cmp.Compare(r.sentNS, ns) })
		for at := from; at < len(all) && all[at].sentNS < p.atNS && p.removed == nil; at++ {
			r := &all[at]
			switch {
			case !j.certainlyLater(k, r.hold, p.hold):
			case j.provenOf(k, r, p.hold):
				p.removed = r
			case p.perhaps == nil:
				p.perhaps = r
			}
		}
	}
}

// provenOf reports whether what a release removed can only have been the record of a lost grant: a server that has no other record, and
// nothing else that can have been there. Of a client that does not declare how it releases it has to be one server that served both.
func (j *judge) provenOf(k *keyView, r *removal, lost *Hold) bool {
	from := lost.startNS()
	if r.kind == "" {
		if !j.m.oneServer() {
			return false
		}
		from = r.hold.startNS()
	}
	return !j.m.mayHaveTwo(from, r.attempt.DoneNS) && !slices.ContainsFunc(k.acquires, func(h *Hold) bool {
		return h != lost && h != r.hold && j.mayHaveHad(h, lost, r)
	})
}

// mayHaveHad reports whether another hold may have had a record when a release removed one, after the service had lost the grant that is
// said to have been removed: its winning request may have come before the delete was answered, and its record may still have been there.
func (j *judge) mayHaveHad(h, lost *Hold, r *removal) bool {
	if h.startNS() >= r.attempt.DoneNS || h.followedBy(lost) {
		return false
	}
	lasts := (j.m.Plan.EffectiveMS + j.m.Plan.GraceMS) * 1e6 // after its client's end
	switch {
	case h.gaveUp():
		return h.DoneNS > r.sentNS
	case h.Outcome == history.Fail:
		return false
	case h.Outcome == history.OK && h.goneNS() <= r.sentNS:
		return false
	}
	exit := j.m.Clients[h.Client].ExitNS
	return exit == 0 || exit+lasts > r.sentNS
}

// oneServer reports whether a single server is known to have served all requests.
func (m *Model) oneServer() bool { return m.Plan.Nodes == 1 && m.Plan.Attached == nil }

// mayHaveTwo reports whether the service may have had two records of one lock, or one that had been gone, at some time of a stretch: a
// server that was disturbed in it may have brought one back, and of several two may serve at once for long after a fault.
func (m *Model) mayHaveTwo(fromNS, toNS int64) bool {
	if !m.oneServer() {
		fromNS = 0
	}
	return touched(m.serviceDisturbed, fromNS, toNS) || !m.oneServer() && slices.ContainsFunc(m.Faults, func(f *Fault) bool {
		return f.Name == history.PartitionFault && f.BeginNS <= toNS && !onlyFromResource.MatchString(f.Detail)
	})
}

// onlyFromResource matches what is read back of a partition that keeps a client from the resource and from no server.
var onlyFromResource = regexp.MustCompile(`\b(from|to) ` + history.ResourceTarget + `$`)

// certainlyLater reports whether g was certainly granted after h had been: it was asked for after h had been read, or its
// token is greater where tokens prove an order.
func (j *judge) certainlyLater(k *keyView, h, g *Hold) bool {
	return h.followedBy(g) || j.tokensProve(k) && g.Token != "" && h.Token != "" && compareTokens(g.Token, h.Token) > 0
}

// removalBy reports whether a release says that it removed a record which its own hold had no claim to any more, whichever that was.
func (j *judge) removalBy(h *Hold, a *Attempt) (r removal, ok bool) {
	if a.F != history.Release || !a.removedRecord() {
		return r, false
	}
	r = removal{hold: h, attempt: a, sentNS: a.SentNS(), kind: j.m.Plan.Release}
	if lease := j.m.leaseEnd(h); lease != 0 {
		r.leaseOver = lease <= r.sentNS
	}
	return r, j.m.protectedWithout(h, a) <= r.sentNS
}

// removedRecord reports whether the answer says that the release removed a record.
func (a *Attempt) removedRecord() bool {
	return a.Acted() || a.Removed && a.DoneNS != 0 && a.Outcome != history.Info
}

// protectedWithout is until when a hold was protected, as far as that was known when one of its releases was sent, which
// itself does not count.
func (m *Model) protectedWithout(h *Hold, release *Attempt) int64 {
	until := min(m.leaseEnd(h), m.protectionStop(h, release))
	if h.LostNS != 0 && h.LostNS <= release.SentNS() {
		until = min(until, lossStop(h))
	}
	for _, ns := range [2]int64{h.EndedNS, h.lossNS} {
		if ns != 0 && ns <= release.SentNS() {
			until = min(until, ns)
		}
	}
	return until
}

// serviceFaults are the stretches, in order, in which a server or the service as a whole was disturbed, or the machine's
// clock was set.
func (m *Model) serviceFaults() (spans []Span) {
	for _, f := range m.Faults {
		if m.ofService(f) {
			spans = append(spans, Span{f.BeginNS, f.goneNS(m.EndNS)})
		}
	}
	for _, s := range m.Steps {
		spans = append(spans, s.Span)
	}
	return merged(spans)
}

// touched reports whether any of the spans, merged, has a moment in common with [from, to].
func touched(spans []Span, from, to int64) bool {
	at := firstAfter(spans, from, func(s Span) int64 { return s.ToNS })
	return at < len(spans) && spans[at].FromNS <= to
}

// removedBefore is the lost grant of a hold whose record a release is proven to have removed, by a request sent before a
// moment; nil if none is. As far as a recording goes on nothing is: what is recorded later may excuse the release.
func (j *judge) removedBefore(h *Hold, ns int64) *premature {
	if j.soFar != nil {
		return nil
	}
	found := j.prematures().found
	for i := range found {
		if p := &found[i]; p.hold == h && p.removed != nil && p.removed.sentNS < ns {
			return p
		}
	}
	return nil
}

// removalCause names the release that removed a grant before the fault that led to it.
func (j *judge) removalCause(p *premature) Cause {
	r := p.removed
	led := j.faultCause(r.hold, p.hold, r.sentNS)
	if led.is(unexplained) {
		led = j.faultCause(p.hold, p.by, p.atNS)
	}
	whose := "another client"
	if r.hold.Client == p.hold.Client {
		whose = "the same client"
	}
	return Cause{Fault: led.Fault, Others: led.Others, Kind: releaseBy + whose, Text: r.words("the grant of "+p.hold.Client) + "; " + led.Text}
}

// noun is what a release that may have removed something is called.
func (r *removal) noun() string {
	what := "release"
	if r.unasked {
		what = "tidying up"
	}
	if r.kind == "" {
		return "undeclared " + what
	}
	return string(r.kind) + " " + what
}

// words say what is proven of the release that removed something.
func (r *removal) words(removed string) string {
	how := "does not look whose record it deletes"
	if r.kind == "" {
		how = "does not declare that it looks whose record it deletes"
	}
	if r.unasked {
		return fmt.Sprintf("what the library of %s tidied up, unasked, removed %s: %s %s, and removed a record at a time when %s, before %s was told of the loss", r.hold.Client, removed, r.hold.Client, how, r.own(), r.hold.Client)
	}
	return fmt.Sprintf("the release of %s removed %s: %s %s, and its release removed a record at a time when %s", r.hold.Client, removed, r.hold.Client, how, r.own())
}

// own says why the releasing hold's own grant was not protected: most often its lease had run out, but where it had been
// released before, or its loss was told, the lease may have had time left.
func (r *removal) own() string {
	switch {
	case r.hold.givenBackNS() < r.attempt.InvokeNS:
		return "it had already asked to release its own"
	case r.leaseOver:
		return "its own lease was over"
	case r.hold.lossNS != 0 && r.hold.lossNS <= r.sentNS:
		return "it had provably lost its own"
	}
	return "nothing protected its own grant any more"
}

// removal is the finding of the release that removed a grant.
func (s *storyteller) removal(r *removal) {
	if !slices.Contains(s.f.Holds, r.hold.ID) {
		s.f.Holds = append([]string{r.hold.ID}, s.f.Holds...)
	}
	a := r.attempt
	s.f.Events = append(s.f.Events, r.hold.Event, r.hold.DoneEvent, a.Event, a.DoneEvent)
	s.add(r.hold.DoneNS, &r.hold.DoneEvent, 0, "%s acquired %s%s", r.hold.Client, r.hold.Key, withToken(r.hold))
	s.add(r.sentNS, &a.Event, 0, "%s sent the request that deletes the record of %s, when %s", r.hold.Client, r.hold.Key, r.own())
	if r.unasked {
		s.add(a.DoneNS, &a.DoneEvent, 0, "%s was told of its loss, and its library had been answered that a record was removed", r.hold.Client)
		return
	}
	s.add(a.DoneNS, &a.DoneEvent, 0, "the answer to %s said that a record was removed", r.hold.Client)
}
