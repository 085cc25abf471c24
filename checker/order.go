package checker

// older puts two holds of one lock into the order of their grants, as far as it is known: by their tokens where those
// prove an order, else by one having been asked for after the other was read. Where neither says it, the one that was
// read first comes first, which proves nothing; unless one of the two is proven to have lost it to the other.
func (j *judge) older(k *keyView, a, b *Hold) (old, young *Hold) {
	if a.tokened() && b.tokened() && j.tokensProve(k) {
		switch order := compareTokens(a.Token, b.Token); {
		case order < 0:
			return a, b
		case order > 0:
			return b, a
		}
	}
	switch {
	case a.followedBy(b):
		return a, b
	case b.followedBy(a):
		return b, a
	case j.lostTo(a, b):
		return a, b
	case j.lostTo(b, a), b.grantedByNS() < a.grantedByNS():
		return b, a
	}
	return a, b
}

// lostTo reports whether the service said that a's record is gone while it is proven to have had b's.
func (j *judge) lostTo(a, b *Hold) bool {
	for _, t := range a.Attempts {
		if t.NotOwned() && b.ProvenNS != 0 && b.DoneNS < t.DoneNS && b.ProvenNS >= t.InvokeNS {
			return true
		}
	}
	return false
}
