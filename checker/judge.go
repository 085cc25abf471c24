package checker

import (
	"cmp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"lockcheck/checker/history"
)

// judge holds a model sorted the ways the properties need it, and what they have found so far.
//
// A property goes over the acquires, grants or requests of a key in their order, and keeps of those it has passed only
// what something later can still go against: holds that last, acquires that wait, grants that are read late. That is
// memory for the clients, for operations of unknown outcome and for what is found, however long the history is; each
// algorithm's comment says what it drops, and why it may. One thing cannot be had so, and is made only where it is needed:
// the chains of a register whose updates do not follow one another, because an old value may be found again at any time
// (eachInTurn).
type judge struct {
	m        *Model
	opts     Options
	keys     []*keyView // in the order of their names
	mutex    sync.Mutex
	outcomes map[Name]*outcome
	// what several properties share
	staleOnce     sync.Once
	staleWrites   []staleWrite
	prematureOnce sync.Once
	premature     prematureOutcome
	freeOnce      sync.Once
	freeFound     *free
	asksOnce      sync.Once
	asks          map[ask][]*Hold
	lastSession   map[string]*Session // by client
	// unansweredFresh are, by client, the first acquires of two locks since the final phase began that were never answered.
	unansweredFresh map[string][]*Hold
	named           map[string][]*Hold // by session: the first two that name it
	soFar           *soFar             // nil unless the recording goes on
}

// keyView is one lock and the register behind it.
type keyView struct {
	name     string
	acquires []*Hold   // all of them, in the order of their invocations
	grants   []*Hold   // acquires that were answered ok, in the order of those answers
	handled  []*Access // those that were applied, in the resource's order
	writes   int       // how many there are, applied or not
	compared distinct  // clients of which the resource handled a request in which it had something to compare

	orderOnce sync.Once
	order     tokenOrder
}

func newJudge(m *Model, opts Options) *judge {
	return &judge{m: m, opts: opts, keys: m.keys, outcomes: map[Name]*outcome{}}
}

// sortInOrder is a stable sort of what mostly is in order.
func sortInOrder[T any](list []T, compare func(a, b T) int) {
	if !slices.IsSortedFunc(list, compare) {
		slices.SortStableFunc(list, compare)
	}
}

// outcome judges a property once. Different ones may be asked for at the same time.
func (j *judge) outcome(name Name) *outcome {
	j.mutex.Lock()
	o := j.outcomes[name]
	j.mutex.Unlock()
	if o != nil {
		return o
	}
	for _, p := range properties {
		if p.Name == name {
			judged := p.judge(j)
			j.withhold(p, &judged)
			o = &judged
		}
	}
	j.mutex.Lock()
	defer j.mutex.Unlock()
	j.outcomes[name] = o
	return o
}

// runParallel runs tasks on as many processors as there are, and waits for all of them.
func runParallel(tasks []func()) {
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(tasks)) {
		workers.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(tasks)); i = next.Add(1) - 1 {
				tasks[i]()
			}
		})
	}
	workers.Wait()
}

// ordered reports whether tokens are declared to grow.
func (j *judge) ordered() bool { return j.m.Plan.Tokens == history.TokensOrdered }

// tokensProve reports whether the tokens of a key prove which of two grants is the newer: they are declared to grow, and
// none was seen not to. A client may be wrong about its tokens (the ids of etcd's leases are not ordered across
// members). Then they are what token-monotonicity finds, and nothing else may be concluded from them: who wrote in turn
// would be said to have written late.
func (j *judge) tokensProve(k *keyView) bool {
	if !j.ordered() || j.m.Plan.Excerpt != nil && slices.Contains(j.m.Plan.Excerpt.Disordered, k.name) {
		return false
	}
	order := k.tokens()
	return len(order.repeated) == 0 && len(order.fallen) == 0 && len(order.contradicted) == 0
}

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

// followedBy reports whether g was certainly asked for after h had been granted. Equal stamps prove no order.
func (h *Hold) followedBy(g *Hold) bool { return g.startNS() > h.grantedByNS() }

// compareTokens orders decimal strings of any length. Leading zeros mean nothing.
func compareTokens(a, b string) int {
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
