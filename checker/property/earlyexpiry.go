package property

import (
	"cmp"
	"fmt"
	"slices"

	"lockcheck/checker/explain"
	"lockcheck/checker/history"
	"lockcheck/checker/model"
)

// EarlyExpiry is rule J5: a grant is lost before its acknowledged lease could have run out, and it is not proven that another client removed it.
// The loss is decided in model/earlyloss.go, how long a lease counts in model/lease.go; this file words the finding.
func (j *Judge) EarlyExpiry() Outcome {
	o := j.earlyLossOutcome(func(p *model.EarlyLoss) bool { return !p.ByAnother() })
	for _, k := range j.keys {
		if j.m.Ordered() && len(k.Tokens().Contradicted) > 0 {
			g := k.Tokens().Contradicted[0].Then
			o.Inconclusive = fmt.Sprintf("whether %s lost %s%s early is not known: by the tokens it did, and by an answer of the service it did not", g.Client, k.Name, explain.WithToken(g))
		}
	}
	return o
}

func (j *Judge) earlyLossOutcome(of func(*model.EarlyLoss) bool) Outcome {
	all := j.m.EarlyLosses()
	o := Outcome{NotApplicable: all.NotApplicable}
	for _, p := range all.Found {
		if of(&p) {
			o.add(p.Key, p.AtNS, p.Hold.ID, func() model.Finding { return j.earlyLossFinding(p) })
		}
	}
	return o
}

// byTokens is said where nothing but their tokens shows which of two grants is the later.
const byTokens = ", after it by their tokens"

func (j *Judge) earlyLossFinding(p model.EarlyLoss) model.Finding {
	h := p.Hold
	how := fmt.Sprintf("the service %s", p.Answer)
	switch {
	case p.Taken != nil:
		how = explain.TakeOverWords(p.Taken, "its record")
	case p.By != nil:
		how = fmt.Sprintf("%s was granted it%s", p.By.Client, explain.WithToken(p.By))
		if !h.FollowedBy(p.By) {
			how += byTokens
		}
	}
	lease := leaseBy(j.m, h, p.AtNS, p.UntilNS)
	f := model.Finding{
		Key: p.Key, AtNS: p.AtNS, FromNS: min(h.DoneNS, p.AtNS), ToNS: max(p.UntilNS, p.AtNS),
		Summary: fmt.Sprintf("%s lost %s%s by %s although its lease, as acknowledged, ran until %s: %s", h.Client, p.Key, explain.WithToken(h), history.Moment(p.AtNS), history.Moment(lease), how),
		Cause:   explain.EarlyLossCause(j.m, h, p.By, p.AtNS),
	}
	s := explain.NewStory(j.m, &f, h, p.By)
	if p.Taken != nil {
		s.TakeOver(p.Taken)
	}
	s.Add(lease, nil, 0, "until here the lease of %s ran, as acknowledged", h.Client)
	if p.Answer != "" {
		s.Add(p.AtNS, nil, 0, "the service %s", p.Answer)
	}
	if r := p.Removed; r != nil {
		f.Summary += "; " + explain.RemovalWords(r, "it")
		s.Removal(r)
	} else if r := p.Perhaps; r != nil {
		f.Summary += "; " + explain.MayBeWhy(r)
		f.Cause = explain.OrRelease(f.Cause, r)
		s.Removal(r)
	}
	s.Answers(h)
	s.Finish()
	return f
}

// leaseBy is until when the lease of a hold ran, as acknowledged by a moment at which it did: protection may stop before
// that, with the hold's own release. Where that is known of a later acknowledgement only, it is until the protection's
// end at least.
func leaseBy(m *model.Model, h *model.Hold, ns, protectedNS int64) int64 {
	if earliest, _ := m.LeaseAt(h, ns); earliest > ns {
		return earliest
	}
	return protectedNS
}

// StableEarlyExpiry tells which findings are stable: the grant of another client that was asked for later, or the service's own word, while
// the client's own confirmation keeps the lease a promise; and no release can turn out to have removed it.
func (j *Judge) StableEarlyExpiry() func(*model.Finding) bool {
	releases, cleanups := map[string]releaseLog{}, map[string][]*model.Hold{}
	return func(f *model.Finding) bool {
		holds := j.watch.named(j.m, f)
		h := holds[0]
		switch confirmed := max(h.BelievedNS, h.DoneNS) > f.AtNS; {
		case len(holds) == 2 && !(confirmed && h.FollowedBy(holds[1])):
			return false
		case len(holds) == 1 && (h.LostNS != 0 || !confirmed):
			return false
		case j.m.Looks():
			return true
		}
		log, known := releases[f.Key]
		if !known {
			log = releasesOn(j.m.KeyNamed(f.Key))
			releases[f.Key] = log
			cleanups[f.Key] = cleanupsOn(j.m.KeyNamed(f.Key))
		}
		return !log.mayHaveRemoved(h, f.AtNS) && !j.mayHaveTidied(f.Key, cleanups[f.Key], h, f.AtNS)
	}
}

// releaseLog are the releases of a lock that may turn out to have removed another's record, in the order of their
// invocations: those that removed one, and those that are not answered yet.
type releaseLog []knownRelease

// knownRelease is a release, and of all up to it the one that was answered last, and the last of any other hold than that.
type knownRelease struct {
	invokeNS       int64
	latest         *model.Hold
	latestNS       int64 // never if it has no answer yet
	latestOfOthers int64
}

func releasesOn(k *model.Lock) (log releaseLog) {
	for _, h := range k.Acquires {
		for _, a := range h.Attempts {
			switch {
			case a.F != history.Release:
			case a.DoneNS == 0:
				log = append(log, knownRelease{invokeNS: a.InvokeNS, latest: h, latestNS: model.Never})
			case a.RemovedRecord():
				log = append(log, knownRelease{invokeNS: a.InvokeNS, latest: h, latestNS: a.DoneNS})
			}
		}
	}
	model.SortInOrder(log, func(a, b knownRelease) int { return cmp.Compare(a.invokeNS, b.invokeNS) })
	for i := 1; i < len(log); i++ {
		log[i].after(&log[i-1])
	}
	return log
}

// after adds what is known of the releases before.
func (r *knownRelease) after(before *knownRelease) {
	switch {
	case r.latest == before.latest:
		r.latestNS, r.latestOfOthers = max(r.latestNS, before.latestNS), before.latestOfOthers
	case before.latestNS > r.latestNS:
		r.latest, r.latestNS, r.latestOfOthers = before.latest, before.latestNS, max(r.latestNS, before.latestOfOthers)
	default:
		r.latestOfOthers = before.latestNS
	}
}

// mayHaveRemoved reports whether a release of another hold, invoked before a moment, was not answered before h was read.
func (l releaseLog) mayHaveRemoved(h *model.Hold, atNS int64) bool {
	n, _ := slices.BinarySearchFunc(l, atNS, func(r knownRelease, ns int64) int { return cmp.Compare(r.invokeNS, ns) })
	if n == 0 {
		return false
	}
	r := &l[n-1]
	if r.latest == h {
		return r.latestOfOthers > h.DoneNS
	}
	return r.latestNS > h.DoneNS
}

// cleanupsOn are the holds whose library has tidied up unasked, or may turn out to have: those whose loss is not told yet, and
// whose release was not asked for. In a long history they are few.
func cleanupsOn(k *model.Lock) (all []*model.Hold) {
	for _, h := range k.Grants {
		if h.Cleanup() != nil || h.ReleaseNS == 0 && !h.Told() {
			all = append(all, h)
		}
	}
	return all
}

// mayHaveTidied reports whether the library of an older hold may turn out to have removed h's record after h was read.
func (j *Judge) mayHaveTidied(key string, cleanups []*model.Hold, h *model.Hold, atNS int64) bool {
	k := j.m.KeyNamed(key)
	return slices.ContainsFunc(cleanups, func(g *model.Hold) bool {
		if g == h || !j.m.CertainlyLater(k, g, h) {
			return false
		}
		if a := g.Cleanup(); a != nil {
			return a.SentNS() > h.DoneNS && a.SentNS() < atNS
		}
		return g.ExitNS == 0 || g.ExitNS > h.DoneNS
	})
}
