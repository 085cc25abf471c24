package checker

import (
	"cmp"
	"slices"

	"lockcheck/checker/history"
)

// judge holds a model sorted the ways the properties need it, and what they have found so far.
type judge struct {
	m        *Model
	opts     Options
	keys     []*keyView // in the order of their names
	outcomes map[Name]*outcome
	// what several properties share
	staleWrites *[]staleWrite
	premature   *prematureOutcome
	lastSession map[string]*Session // by client
}

// keyView is one lock and the register behind it.
type keyView struct {
	name     string
	acquires []*Hold   // all of them, in the order of their invocations
	grants   []*Hold   // acquires that were answered ok, in the order of those answers
	handled  []*Access // those that were applied, in the resource's order
	writes   int       // how many there are, applied or not
}

func newJudge(m *Model, opts Options) *judge {
	j := &judge{m: m, opts: opts, outcomes: map[Name]*outcome{}}
	views := map[string]*keyView{}
	var k *keyView
	for _, h := range m.Holds {
		if k == nil || k.name != h.Key {
			k = views[h.Key]
		}
		if k == nil {
			k = &keyView{name: h.Key}
			views[h.Key] = k
			j.keys = append(j.keys, k)
		}
		h.at = int32(len(k.acquires))
		k.acquires = append(k.acquires, h)
		if h.Outcome == history.OK {
			k.grants = append(k.grants, h)
		}
		for _, a := range h.Accesses {
			if a.F == history.Write {
				k.writes++
			}
		}
	}
	for i, a := range m.byRequest {
		if a.Handled == &m.Requests[i] && a.Applied() {
			if k == nil || k.name != a.Hold.Key {
				k = views[a.Hold.Key]
			}
			k.handled = append(k.handled, a)
		}
	}
	for _, k := range j.keys {
		sortInOrder(k.grants, func(a, b *Hold) int { return cmp.Compare(a.DoneNS, b.DoneNS) })
	}
	slices.SortFunc(j.keys, func(a, b *keyView) int { return cmp.Compare(a.name, b.name) })
	return j
}

// sortInOrder is a stable sort of what mostly is in order.
func sortInOrder[T any](list []T, compare func(a, b T) int) {
	if !slices.IsSortedFunc(list, compare) {
		slices.SortStableFunc(list, compare)
	}
}

// outcome judges a property once.
func (j *judge) outcome(name Name) *outcome {
	if o := j.outcomes[name]; o != nil {
		return o
	}
	for _, p := range properties {
		if p.name == name {
			o := p.judge(j)
			j.outcomes[name] = &o
		}
	}
	return j.outcomes[name]
}

// ordered tells whether tokens are declared to grow, so that they may prove an order.
func (j *judge) ordered() bool { return j.m.Plan.Tokens == history.TokensOrdered }

// nextOther is the first grant after the i-th that went to another client.
func (k *keyView) nextOther(i int) *Hold {
	for _, g := range k.grants[i+1:] {
		if g.Client != k.grants[i].Client {
			return g
		}
	}
	return nil
}

// startNS is when a hold's winning attempt was sent at the earliest: it cannot have been granted before (R2).
func (h *Hold) startNS() int64 { return max(h.InvokeNS, h.SeenNS) }

// grantedByNS is when a hold had been granted at the latest; never if that is not known.
func (h *Hold) grantedByNS() int64 {
	if h.Outcome == history.OK {
		return h.DoneNS
	}
	return never
}

// follows tells whether g was certainly asked for after h had been granted. Equal stamps prove no order.
func (h *Hold) followedBy(g *Hold) bool { return g.startNS() > h.grantedByNS() }

// compareTokens orders decimal strings of any length. Leading zeros mean nothing.
func compareTokens(a, b string) int {
	a, b = bare(a), bare(b)
	return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
}

func bare(token string) string {
	for len(token) > 1 && token[0] == '0' {
		token = token[1:]
	}
	return token
}
