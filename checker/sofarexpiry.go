package checker

import (
	"cmp"
	"slices"

	"lockcheck/checker/history"
)

// stableEarlyExpiry: the grant of another client that was asked for later, or the service's own word, while the client's
// own confirmation keeps the lease a promise; and no release can turn out to have removed it.
func (j *judge) stableEarlyExpiry() func(*Finding) bool {
	releases, cleanups := map[string]releaseLog{}, map[string][]*Hold{}
	return func(f *Finding) bool {
		holds := j.soFar.named(j.m, f)
		h := holds[0]
		switch confirmed := max(h.BelievedNS, h.DoneNS) > f.AtNS; {
		case len(holds) == 2 && !(confirmed && h.followedBy(holds[1])):
			return false
		case len(holds) == 1 && (h.LostNS != 0 || !confirmed):
			return false
		case j.m.looks():
			return true
		}
		log, known := releases[f.Key]
		if !known {
			log = j.keyNamed(f.Key).releases()
			releases[f.Key] = log
			cleanups[f.Key] = j.keyNamed(f.Key).cleanupsSoFar()
		}
		return !log.mayHaveRemoved(h, f.AtNS) && !j.mayHaveTidied(f.Key, cleanups[f.Key], h, f.AtNS)
	}
}

// releaseLog are the releases of a lock that may turn out to have removed another's record, in the order of their
// invocations: those that removed one, and those that are not answered yet.
type releaseLog []releaseSoFar

// releaseSoFar is a release, and of all up to it the one that was answered last, and the last of any other hold than that.
type releaseSoFar struct {
	invokeNS       int64
	latest         *Hold
	latestNS       int64 // never if it has no answer yet
	latestOfOthers int64
}

func (k *keyView) releases() (log releaseLog) {
	for _, h := range k.acquires {
		for _, a := range h.Attempts {
			switch {
			case a.F != history.Release:
			case a.DoneNS == 0:
				log = append(log, releaseSoFar{invokeNS: a.InvokeNS, latest: h, latestNS: never})
			case a.removedRecord():
				log = append(log, releaseSoFar{invokeNS: a.InvokeNS, latest: h, latestNS: a.DoneNS})
			}
		}
	}
	sortInOrder(log, func(a, b releaseSoFar) int { return cmp.Compare(a.invokeNS, b.invokeNS) })
	for i := 1; i < len(log); i++ {
		log[i].after(&log[i-1])
	}
	return log
}

// after adds what is known of the releases before.
func (r *releaseSoFar) after(before *releaseSoFar) {
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
func (l releaseLog) mayHaveRemoved(h *Hold, atNS int64) bool {
	n, _ := slices.BinarySearchFunc(l, atNS, func(r releaseSoFar, ns int64) int { return cmp.Compare(r.invokeNS, ns) })
	if n == 0 {
		return false
	}
	r := &l[n-1]
	if r.latest == h {
		return r.latestOfOthers > h.DoneNS
	}
	return r.latestNS > h.DoneNS
}

// cleanupsSoFar are the holds whose library has tidied up unasked, or may turn out to have: those whose loss is not told yet, and
// whose release was not asked for. In a long history they are few.
func (k *keyView) cleanupsSoFar() (all []*Hold) {
	for _, h := range k.grants {
		if h.cleanup() != nil || h.ReleaseNS == 0 && (h.more == nil || !h.more.told) {
			all = append(all, h)
		}
	}
	return all
}

// mayHaveTidied reports whether the library of an older hold may turn out to have removed h's record after h was read.
func (j *judge) mayHaveTidied(key string, cleanups []*Hold, h *Hold, atNS int64) bool {
	k := j.keyNamed(key)
	return slices.ContainsFunc(cleanups, func(g *Hold) bool {
		if g == h || !j.certainlyLater(k, g, h) {
			return false
		}
		if a := g.cleanup(); a != nil {
			return a.SentNS() > h.DoneNS && a.SentNS() < atNS
		}
		return g.ExitNS == 0 || g.ExitNS > h.DoneNS
	})
}
