package checker

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"lockcheck/checker/history"
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
	tokenless := 0
	for _, k := range j.keys {
		order := k.tokens()
		tokenless += order.tokenless
		for _, c := range order.repeated {
			o.hits = append(o.hits, hit{k.name, c.then.DoneNS, c.first.ID, func() Finding {
				f, g := c.first, c.then
				return j.tokenFinding(f, g, fmt.Sprintf("%s was granted %s with token %s, which %s had been given before", g.Client, g.Key, g.Token, f.Client))
			}})
		}
		for _, c := range order.contradicted {
			if j.provenOrder(k, c) {
				o.hits = append(o.hits, hit{k.name, c.then.DoneNS, c.first.ID, func() Finding { return j.contradictionFinding(k, c, true) }})
			}
		}
		for _, c := range order.fallen {
			o.hits = append(o.hits, hit{k.name, c.then.DoneNS, c.first.ID, func() Finding {
				f, g := c.first, c.then
				return j.tokenFinding(f, g, fmt.Sprintf("%s asked for %s after %s had been granted it with token %s, and was given the lower token %s",
					g.Client, g.Key, f.Client, f.Token, g.Token))
			}})
		}
	}
	if tokenless > 0 {
		o.inconclusive = history.Counted(tokenless, "grant", "grants") + " carried no token although the lock client declares ordered ones"
	}
	return o
}

// tokenOrder is what is wrong with the tokens of a key. A grant is reported once.
type tokenOrder struct {
	repeated []tokenConflict // the same token was given before
	fallen   []tokenConflict // a greater token had been given before this grant was asked for
	// contradicted: the first has the greater token, and was granted while the other is proven to have held the lock, or before it. None
	// where tokens were repeated or had fallen.
	contradicted []tokenConflict
	tokenless    int
	behind       behind
}

type tokenConflict struct{ first, then *Hold }

func (k *keyView) tokens() *tokenOrder {
	k.orderOnce.Do(func() { k.order = orderTokens(k.grants) })
	return &k.order
}

// orderTokens goes through grants in the order of their completions. One whose token is greater than all before it (it
// leads) is neither repeated nor fallen. Any other is behind, and held against what was granted before:
//
//   - The same token may have been given to one that leads, which is found by its token, because these rise; or to one
//     that is behind, which are kept by their tokens.
//   - Of the grants that had completed before this one was asked for, the last that leads has the greatest token.
//
// So what is kept is as much as there are grants behind: those that were read late, and those that break the rule.
func orderTokens(grants []*Hold) (o tokenOrder) {
	var highest *Hold
	b := &o.behind
	given := map[string]*tokenRecord{} // to grants that are behind
	for i, g := range grants {
		switch {
		case g.Token == "":
			o.tokenless++
			b.add(i)
			continue
		case highest == nil || compareTokens(g.Token, highest.Token) > 0:
			highest = g
			continue
		}
		b.add(i)
		r := given[bare(g.Token)]
		if r == nil {
			r = &tokenRecord{first: b.leadsWith(g.Token, grants[:i])}
			if r.first == nil {
				r.first = g
			}
			r.goneNS = r.first.goneNS()
			given[bare(g.Token)] = r
		}
		switch {
		case r.first == g:
		case r.answers(g):
			r.goneNS = min(r.goneNS, g.goneNS())
		default:
			o.repeated = append(o.repeated, tokenConflict{r.first, g})
			continue
		}
		asked, _ := slices.BinarySearchFunc(grants[:i], g.startNS(), func(h *Hold, ns int64) int { return cmp.Compare(h.DoneNS, ns) })
		if at := b.leader(asked - 1); at >= 0 && compareTokens(g.Token, grants[at].Token) < 0 {
			o.fallen = append(o.fallen, tokenConflict{grants[at], g})
		}
	}
	if len(o.repeated) == 0 && len(o.fallen) == 0 { // else they are known to prove no order
		o.contradicted = contradicted(grants)
	}
	slices.SortStableFunc(o.repeated, func(a, b tokenConflict) int { return compareTokens(a.then.Token, b.then.Token) })
	slices.SortStableFunc(o.fallen, func(a, b tokenConflict) int { return cmp.Compare(a.then.startNS(), b.then.startNS()) })
	return o
}

// contradicted are grants that are proven to have lasted (R6), each with one that was read before the end of that, and would have been
// made in that time if the greater of their tokens were the later grant's. Where their times order the two, no token is asked.
func contradicted(grants []*Hold) (found []tokenConflict) {
	for _, g := range grants {
		if g.ProvenNS == 0 || g.Token == "" {
			continue
		}
		from, _ := slices.BinarySearchFunc(grants, g.startNS(), func(h *Hold, ns int64) int { return cmp.Compare(h.DoneNS, ns) })
		for _, f := range grants[from:] {
			if f.DoneNS >= g.ProvenNS {
				break
			}
			if f.client != g.client && f.Token != "" && !g.followedBy(f) && compareTokens(f.Token, g.Token) > 0 && !heldAtOnce(f, g) {
				found = append(found, tokenConflict{f, g})
				break
			}
		}
	}
	return found
}

// heldAtOnce reports whether the service had promised, or is proven, to hold two grants at one moment: then no order fits them, whatever
// their tokens are.
func heldAtOnce(f, g *Hold) bool {
	return max(f.DoneNS, g.DoneNS) < min(max(f.LeaseNS, f.ProvenNS), max(g.LeaseNS, g.ProvenNS))
}

// provenOrder reports whether it is proven without tokens that the first of two grants is the older: an answer that only the other's own
// record can have brought shows that the service had the other when the first had been read, and no other server, nor a record that came
// back, can have given that answer.
func (j *judge) provenOrder(k *keyView, c tokenConflict) bool {
	answered := int64(never)
	for _, a := range c.then.Attempts {
		if j.m.ownRecord(a) && a.SentNS() > c.first.DoneNS && a.SentNS() <= c.then.ProvenNS {
			answered = min(answered, a.DoneNS)
		}
	}
	shared := slices.ContainsFunc(k.acquires, func(h *Hold) bool { // what was asked for after the answer proves nothing against it
		return h != c.then && h.client == c.then.client && h.InvokeNS < answered && sessionsMayAgree(h.Session, c.then.Session) && h.Outcome != history.Fail
	})
	return !shared && j.m.looks() && answered < never && !j.m.mayHaveTwo(c.first.InvokeNS, answered)
}

// stableTokens: what was read of two tokens stays so, but which grants they contradict what is recorded later shows, too.
func (j *judge) stableTokens() func(*Finding) bool {
	return func(f *Finding) bool { return !j.isContradiction(f) }
}

func (j *judge) isContradiction(f *Finding) bool {
	return j.ordered() && slices.ContainsFunc(j.keyNamed(f.Key).tokens().contradicted, func(c tokenConflict) bool {
		return c.then.DoneNS == f.AtNS && len(f.Holds) == 2 && slices.Contains(f.Holds, c.first.ID) && slices.Contains(f.Holds, c.then.ID)
	})
}

// contradictionFinding is that of tokens which say another order than what is proven of one of two grants: of the tokens, where they are
// proven to be wrong, or of the lock, which leaves that open.
func (j *judge) contradictionFinding(k *keyView, c tokenConflict, ofTokens bool) Finding {
	f, g := c.first, c.then
	summary := fmt.Sprintf("%s was granted %s%s and %s%s, and no order fits both: %s is proven to have held it until %s", f.Client, g.Key, withToken(f), g.Client, withToken(g),
		g.Client, history.Moment(g.ProvenNS))
	if ofTokens {
		summary += fmt.Sprintf(", so %s has the older grant and the greater token", f.Client)
	} else {
		summary += fmt.Sprintf(", so either %s has the older grant and the greater token, or the service granted it to both", f.Client)
		if j.provenOrder(k, c) {
			summary += " (the former is proven)"
		}
	}
	for _, a := range g.Accesses {
		if a.F == history.Write && a.Code == history.CodeRejected && a.InvokeNS < g.ProvenNS {
			summary += fmt.Sprintf("; the resource rejected the write of %s, which held it", g.Client)
			break
		}
	}
	finding := j.tokenFinding(f, g, summary)
	s := &storyteller{j: j, f: &finding, lines: finding.Story}
	s.add(g.ProvenNS, nil, 0, "until here the service had the grant of %s: its answer proves it", g.Client)
	s.answers(g)
	s.finish()
	return finding
}

// behind are the stretches of a list of grants that do not lead.
type behind []stretch

func (b *behind) add(i int) {
	if n := len(*b); n > 0 && (*b)[n-1].last == i-1 {
		(*b)[n-1].last = i
		return
	}
	*b = append(*b, stretch{i, i})
}

// leader is the last that leads, up to the i-th; -1 if none does.
func (b behind) leader(i int) int {
	n, _ := slices.BinarySearchFunc(b, i+1, func(s stretch, at int) int { return cmp.Compare(s.first, at) })
	if n > 0 && i <= b[n-1].last {
		return b[n-1].first - 1
	}
	return i
}

// leadsWith is the grant that leads with a token; nil if none does.
func (b behind) leadsWith(token string, grants []*Hold) *Hold {
	at := func(i int) *Hold {
		if i = b.leader(i); i >= 0 {
			return grants[i]
		}
		return nil
	}
	n := sort.Search(len(grants), func(i int) bool { h := at(i); return h != nil && compareTokens(h.Token, token) >= 0 })
	if n == len(grants) || compareTokens(grants[n].Token, token) != 0 {
		return nil
	}
	return at(n)
}

// tokenRecord is what the service may have kept under a token: the record of one session, until any of the holds that it
// was answered to was seen to be gone.
type tokenRecord struct {
	first  *Hold
	goneNS int64 // seen to be gone by then, at the earliest; never if it was not
}

// answers reports whether g may simply be the same record once more: the same session asked again while nothing had shown
// that its grant was gone. Services that keep one record for a session (etcd) then answer with that record, and its token.
func (r *tokenRecord) answers(g *Hold) bool {
	return r.first.Session != "" && r.first.Session == g.Session && r.goneNS > g.startNS()
}

// goneNS is when the service had first said that a hold is gone, or released; never if it did not.
func (h *Hold) goneNS() int64 {
	return h.endedOr((*Attempt).gone)
}

func (j *judge) tokenFinding(f, g *Hold, summary string) Finding {
	finding := Finding{Key: g.Key, Summary: summary, FromNS: f.startNS(), ToNS: max(f.DoneNS, g.DoneNS), AtNS: g.DoneNS, Cause: j.tokenCause(f, g)}
	s := j.story(&finding, f, g)
	s.asked(f)
	s.asked(g)
	s.finish()
	return finding
}
