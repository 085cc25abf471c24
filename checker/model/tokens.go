package model

import (
	"cmp"
	"slices"
	"sort"
)

// tokenOrder is what is wrong with the tokens of a key. A grant is reported once.
type tokenOrder struct {
	Repeated []TokenConflict // the same token was given before
	Fallen   []TokenConflict // a greater token had been given before this grant was asked for
	// Contradicted: the first has the greater token, and was granted while the other is proven to have held the lock, or before it. None
	// where tokens were repeated or had fallen.
	Contradicted []TokenConflict
	Tokenless    int
	behind       behind
}

// TokenConflict is two grants whose tokens contradict the order in which they were made.
type TokenConflict struct{ First, Then *Hold }

// Tokens are looked at once, when they are first asked for.
func (k *Lock) Tokens() *tokenOrder {
	k.orderOnce.Do(func() { k.order = orderTokens(k.Grants) })
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
			o.Tokenless++
			b.add(i)
			continue
		case highest == nil || CompareTokens(g.Token, highest.Token) > 0:
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
			r.goneNS = r.first.GoneNS()
			given[bare(g.Token)] = r
		}
		switch {
		case r.first == g:
		case r.answers(g):
			r.goneNS = min(r.goneNS, g.GoneNS())
		default:
			o.Repeated = append(o.Repeated, TokenConflict{r.first, g})
			continue
		}
		asked, _ := slices.BinarySearchFunc(grants[:i], g.StartNS(), func(h *Hold, ns int64) int { return cmp.Compare(h.DoneNS, ns) })
		if at := b.leader(asked - 1); at >= 0 && CompareTokens(g.Token, grants[at].Token) < 0 {
			o.Fallen = append(o.Fallen, TokenConflict{grants[at], g})
		}
	}
	if len(o.Repeated) == 0 && len(o.Fallen) == 0 { // else they are known to prove no order
		o.Contradicted = contradicted(grants)
	}
	slices.SortStableFunc(o.Repeated, func(a, b TokenConflict) int { return CompareTokens(a.Then.Token, b.Then.Token) })
	slices.SortStableFunc(o.Fallen, func(a, b TokenConflict) int { return cmp.Compare(a.Then.StartNS(), b.Then.StartNS()) })
	return o
}

// contradicted are grants that are said to have lasted (R6), each with one that was read before the end of that, and would have been
// made in that time if the greater of their tokens were the later grant's. Where their times order the two, no token is asked.
func contradicted(grants []*Hold) (found []TokenConflict) {
	for _, g := range grants {
		if g.ClaimedNS == 0 || g.Token == "" {
			continue
		}
		from, _ := slices.BinarySearchFunc(grants, g.StartNS(), func(h *Hold, ns int64) int { return cmp.Compare(h.DoneNS, ns) })
		for _, f := range grants[from:] {
			if f.DoneNS >= g.ClaimedNS {
				break
			}
			if f.ClientNumber != g.ClientNumber && f.Token != "" && !g.FollowedBy(f) && CompareTokens(f.Token, g.Token) > 0 && !heldAtOnce(f, g) {
				found = append(found, TokenConflict{f, g})
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

// behind are the stretches of a list of grants that do not lead.
type behind []followers

// followers are grants, from the first to the last, that do not lead.
type followers struct{ first, last int }

func (b *behind) add(i int) {
	if n := len(*b); n > 0 && (*b)[n-1].last == i-1 {
		(*b)[n-1].last = i
		return
	}
	*b = append(*b, followers{i, i})
}

// leader is the last that leads, up to the i-th; -1 if none does.
func (b behind) leader(i int) int {
	n, _ := slices.BinarySearchFunc(b, i+1, func(s followers, at int) int { return cmp.Compare(s.first, at) })
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
	n := sort.Search(len(grants), func(i int) bool { h := at(i); return h != nil && CompareTokens(h.Token, token) >= 0 })
	if n == len(grants) || CompareTokens(grants[n].Token, token) != 0 {
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
	return r.first.Session != "" && r.first.Session == g.Session && r.goneNS > g.StartNS()
}
