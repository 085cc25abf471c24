package explain

import (
	"cmp"
	"fmt"
	"slices"

	"lockcheck/checker/model"
)

// removalCause names the release or take-over that removed a grant before the fault that led to it.
func removalCause(m *model.Model, p *model.EarlyLoss) model.Cause {
	if t := p.Taken; t != nil {
		c := newCause(m, p.Hold, cmp.Or(takenBy(m, p.Hold, nil, p.AtNS), t.Hold), p.AtNS)
		c.early = true
		led := c.fault()
		return model.Cause{Fault: led.Fault, Others: led.Others, Kind: model.TakeOverBy + "another client", Text: TakeOverWords(t, "the record of "+p.Hold.Client) + "; " + led.Text}
	}
	r := p.Removed
	led := faultCause(m, r.Hold, p.Hold, r.SentNS)
	if led.Is(model.Unexplained) {
		led = faultCause(m, p.Hold, p.By, p.AtNS)
	}
	whose := "another client"
	if r.Hold.Client == p.Hold.Client {
		whose = "the same client"
	}
	return model.Cause{Fault: led.Fault, Others: led.Others, Kind: model.ReleaseBy + whose, Text: RemovalWords(r, "the grant of "+p.Hold.Client) + "; " + led.Text}
}

// OrRelease names the release that may have removed a grant (nil if there is none) where no fault explains the loss, beside the faults where some do.
func OrRelease(c model.Cause, r *model.Removal) model.Cause {
	switch {
	case r == nil || c.MayBeRelease():
		return c
	case c.Unexplained():
		return model.Cause{Kind: model.MayBeRelease, Text: MayBeWhy(r), ReleaseMayBeWhy: true}
	}
	c.Text += "; " + MayBeWhy(r)
	c.ReleaseMayBeWhy = true
	return c
}

// MayBeWhy says that the release may have removed a grant.
func MayBeWhy(r *model.Removal) string {
	return fmt.Sprintf("the %s of %s may be why", removalNoun(r), r.Hold.Client)
}

// removalNoun is what a release that may have removed something is called.
func removalNoun(r *model.Removal) string {
	what := "release"
	if r.Unasked {
		what = "tidying up"
	}
	if r.Kind == "" {
		return "undeclared " + what
	}
	return string(r.Kind) + " " + what
}

// RemovalWords say what is proven of the release that removed something.
func RemovalWords(r *model.Removal, removed string) string {
	how := "does not look whose record it deletes"
	if r.Kind == "" {
		how = "does not declare that it looks whose record it deletes"
	}
	if r.Unasked {
		return fmt.Sprintf("what the library of %s tidied up, unasked, removed %s: %s %s, and removed a record at a time when %s, before %s was told of the loss", r.Hold.Client, removed, r.Hold.Client, how, whyUnprotected(r), r.Hold.Client)
	}
	return fmt.Sprintf("the release of %s removed %s: %s %s, and its release removed a record at a time when %s", r.Hold.Client, removed, r.Hold.Client, how, whyUnprotected(r))
}

// whyUnprotected says why the releasing hold's own grant was not protected: most often its lease had run out, but where it had been
// released before, or its loss was told, the lease may have had time left.
func whyUnprotected(r *model.Removal) string {
	switch {
	case r.Claims:
		return "its own record may have been removed before"
	case r.Hold.GivenBackNS() < r.Attempt.InvokeNS:
		return "it had already asked to release its own"
	case r.LeaseOver:
		return "its own lease was over"
	case r.Hold.LossNS != 0 && r.Hold.LossNS <= r.SentNS:
		return "it had provably lost its own"
	}
	return "nothing protected its own grant any more"
}

// Removal is the finding of the release that removed a grant.
func (s *Story) Removal(r *model.Removal) {
	if !slices.Contains(s.f.Holds, r.Hold.ID) {
		s.f.Holds = append([]string{r.Hold.ID}, s.f.Holds...)
	}
	a := r.Attempt
	s.lines = slices.DeleteFunc(s.lines, func(l model.Line) bool { return l.Event != nil && *l.Event == a.Event })
	s.f.Events = append(s.f.Events, r.Hold.Event, r.Hold.DoneEvent, a.Event, a.DoneEvent)
	s.Add(r.Hold.DoneNS, &r.Hold.DoneEvent, 0, "%s acquired %s%s", r.Hold.Client, r.Hold.Key, WithToken(r.Hold))
	s.Add(r.SentNS, &a.Event, 0, "%s sent the request that deletes the record of %s, when %s", r.Hold.Client, r.Hold.Key, whyUnprotected(r))
	if r.Unasked {
		s.Add(a.DoneNS, &a.DoneEvent, 0, "%s was told of its loss, and its library had been answered that a record was removed", r.Hold.Client)
		return
	}
	s.Add(a.DoneNS, &a.DoneEvent, 0, "the answer to %s said that a record was removed", r.Hold.Client)
}

// TakeOverWords say what is proven of it.
func TakeOverWords(t *model.TakeOver, removed string) string {
	return fmt.Sprintf("%s removed %s while it acquired %s, by an answer that named the session %s", t.Hold.Client, removed, t.Hold.Key, t.Session)
}

// TakeOver is the finding of a grant that another acquire removed.
func (s *Story) TakeOver(t *model.TakeOver) {
	s.f.Holds = append([]string{t.Hold.ID}, s.f.Holds...)
	s.f.Events = append(s.f.Events, t.Hold.Event, t.Event)
	s.Add(t.SentNS, &t.Hold.Event, 0, "%s, which was acquiring %s, sent the request that removes a record", t.Hold.Client, t.Hold.Key)
	s.Add(t.DoneNS, &t.Event, 0, "the answer to %s said that it had removed the record of session %s", t.Hold.Client, t.Session)
}
