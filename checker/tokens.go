package checker

import (
	"cmp"
	"fmt"
	"slices"
)

// tokenMonotonicity is J2: a grant that was asked for after another had completed must carry a greater token, and no two
// grants may share one. Grants that overlap in time may complete in any order: who reads its reply late shows an old
// token late.
func (j *judge) tokenMonotonicity() outcome {
	if !j.ordered() {
		reason := j.m.Plan.TokensReason
		if reason == "" {
			reason = "the lock client gives no ordered token"
		}
		return outcome{notApplicable: reason}
	}
	var o outcome
	bare := 0
	for _, k := range j.keys {
		grants, risen := k.tokens()
		bare += len(k.grants) - len(grants)
		// Tokens that rise from each completion to the next are neither shared nor fallen: who was asked for after another
		// had completed has completed after it.
		if risen {
			continue
		}
		shared := map[*Hold]bool{}
		o.hits = append(o.hits, j.sharedTokens(k, grants, shared)...)
		o.hits = append(o.hits, j.fallenTokens(k, grants, shared)...)
	}
	if bare > 0 {
		o.inconclusive = fmt.Sprintf("%d grants carried no token although the lock client declares ordered ones", bare)
	}
	return o
}

// sharedTokens finds every grant whose token was given before. It marks them, so that one grant is counted once.
func (j *judge) sharedTokens(k *keyView, grants []*Hold, shared map[*Hold]bool) (hits []hit) {
	byToken := slices.Clone(grants) // and those that share one, in the order of their completions
	sortInOrder(byToken, func(a, b *Hold) int { return compareTokens(a.Token, b.Token) })
	var r tokenRecord
	for _, g := range byToken {
		if r.first == nil || compareTokens(r.first.Token, g.Token) != 0 {
			r = tokenRecord{first: g, goneNS: g.goneNS()}
			continue
		}
		if r.answers(g) {
			r.goneNS = min(r.goneNS, g.goneNS())
			continue
		}
		f := r.first
		shared[g] = true
		hits = append(hits, hit{k.name, g.DoneNS, func() Finding {
			return j.tokenFinding(f, g, fmt.Sprintf("%s was granted %s with token %s, which %s had been given before", g.Client, g.Key, g.Token, f.Client))
		}})
	}
	return hits
}

// tokenRecord is what the service may have kept under a token: the record of one session, until any of the holds that it
// was answered to was seen to be gone.
type tokenRecord struct {
	first  *Hold
	goneNS int64 // seen to be gone by then, at the earliest; never if it was not
}

// answers tells whether g may simply be the same record once more: the same session asked again while nothing had shown
// that its grant was gone. Services that keep one record for a session (etcd) then answer with that record, and its token.
func (r *tokenRecord) answers(g *Hold) bool {
	return r.first.Session != "" && r.first.Session == g.Session && r.goneNS > g.startNS()
}

// goneNS is when a hold was first answered to be gone, or to have been released; never if that was not seen.
func (h *Hold) goneNS() int64 {
	at := int64(never)
	for _, a := range h.Attempts {
		if a.gone() {
			at = min(at, a.DoneNS)
		}
	}
	return at
}

// fallenTokens finds every grant whose token is lower than that of a grant which had completed before it was asked for.
func (j *judge) fallenTokens(k *keyView, grants []*Hold, shared map[*Hold]bool) (hits []hit) {
	byStart := slices.Clone(grants)
	sortInOrder(byStart, func(a, b *Hold) int { return cmp.Compare(a.startNS(), b.startNS()) })
	var highest *Hold
	done := 0
	for _, g := range byStart {
		for ; done < len(grants) && grants[done].followedBy(g); done++ {
			if highest == nil || compareTokens(grants[done].Token, highest.Token) > 0 {
				highest = grants[done]
			}
		}
		if f := highest; f != nil && !shared[g] && compareTokens(g.Token, f.Token) < 0 {
			hits = append(hits, hit{k.name, g.DoneNS, func() Finding {
				return j.tokenFinding(f, g, fmt.Sprintf("%s asked for %s after %s had been granted it with token %s, and was given the lower token %s",
					g.Client, g.Key, f.Client, f.Token, g.Token))
			}})
		}
	}
	return hits
}

func (j *judge) tokenFinding(f, g *Hold, summary string) Finding {
	finding := Finding{Key: g.Key, Summary: summary, FromNS: f.startNS(), ToNS: max(f.DoneNS, g.DoneNS), AtNS: g.DoneNS, Cause: j.cause(f, g, g.DoneNS)}
	s := j.story(&finding, f, g)
	s.asked(f)
	s.asked(g)
	s.finish()
	return finding
}
