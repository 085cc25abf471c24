package model

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"lockcheck/checker/history"
)

// Lock is one lock and the register behind it.
type Lock struct {
	Name     string
	Acquires []*Hold   // all of them, in the order of their invocations
	Grants   []*Hold   // Acquires that were answered ok, in the order of those answers
	Handled  []*Access // those that were applied, in the resource's order
	Writes   int       // how many there are, applied or not
	Compared distinct  // clients of which the resource handled a request in which it had something to compare

	orderOnce sync.Once
	order     tokenOrder
}

// SortInOrder is a stable sort of what mostly is in order.
func SortInOrder[T any](list []T, compare func(a, b T) int) {
	if !slices.IsSortedFunc(list, compare) {
		slices.SortStableFunc(list, compare)
	}
}

// TokensProve reports whether the tokens of a key prove which of two grants is the newer: they are declared to grow, and
// none was seen not to. A client may be wrong about its tokens (the ids of etcd's leases are not ordered across
// members). Then they are what token-monotonicity finds, and nothing else may be concluded from them: who wrote in turn
// would be said to have written late.
func (m *Model) TokensProve(k *Lock) bool {
	if !m.Ordered() || m.Plan.Excerpt != nil && slices.Contains(m.Plan.Excerpt.Disordered, k.Name) {
		return false
	}
	order := k.Tokens()
	return len(order.Repeated) == 0 && len(order.Fallen) == 0 && len(order.Contradicted) == 0
}

// CompareTokens orders decimal strings of any length. Leading zeros mean nothing.
func CompareTokens(a, b string) int {
	a, b = bare(a), bare(b)
	if len(a) != len(b) {
		return cmp.Compare(len(a), len(b))
	}
	return strings.Compare(a, b)
}

func bare(token string) string {
	for len(token) > 1 && token[0] == '0' {
		token = token[1:]
	}
	return token
}

// Older puts two holds of one lock into the order of their grants, as far as it is known: by their tokens where those
// prove an order, else by one having been asked for after the other was read. Where neither says it, the one that was
// read first comes first, which proves nothing; unless one of the two is proven to have lost it to the other.
func (m *Model) Older(k *Lock, a, b *Hold) (old, young *Hold) {
	if a.Tokened() && b.Tokened() && m.TokensProve(k) {
		switch order := CompareTokens(a.Token, b.Token); {
		case order < 0:
			return a, b
		case order > 0:
			return b, a
		}
	}
	switch {
	case a.FollowedBy(b):
		return a, b
	case b.FollowedBy(a):
		return b, a
	case m.LostTo(a, b):
		return a, b
	case m.LostTo(b, a), b.GrantedByNS() < a.GrantedByNS():
		return b, a
	}
	return a, b
}

// LostTo reports whether the service said that a's record is gone while it is proven to have had b's.
func (m *Model) LostTo(a, b *Hold) bool {
	for _, t := range a.Attempts {
		if t.NotOwned() && b.ProvenNS != 0 && b.DoneNS < t.DoneNS && b.ProvenNS >= t.InvokeNS {
			return true
		}
	}
	return false
}

// LastGrant is the last grant that was read before a moment; nil if there was none.
func (k *Lock) LastGrant(beforeNS int64) (last *Hold) {
	for _, h := range k.Grants {
		if h.DoneNS < beforeNS {
			last = h
		}
	}
	return last
}

// CertainlyLater reports whether g was certainly granted after h had been: it was asked for after h had been read, or its
// token is greater where tokens prove an order.
func (m *Model) CertainlyLater(k *Lock, h, g *Hold) bool {
	return h.FollowedBy(g) || m.TokensProve(k) && g.Token != "" && h.Token != "" && CompareTokens(g.Token, h.Token) > 0
}

// ValueBefore is what a register held before a line of the resource's log.
func (k *Lock) ValueBefore(seq int32) string {
	at, _ := slices.BinarySearchFunc(k.Handled, seq, func(a *Access, seq int32) int { return cmp.Compare(a.Handled, seq) })
	for _, a := range slices.Backward(k.Handled[:at]) {
		if a.F == history.Write {
			return a.Value
		}
	}
	return ""
}
