package checker

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
	"lockcheck/checker/testkit"
)

// judge says what is found in a tiny history.
func (h *tinyHistory) judge() ([]worldFinding, error) {
	mark := func(ns int64, phase string) history.Event {
		return history.Event{TimeNS: ns, Process: history.HarnessProcess, Type: history.Info, F: history.Phase, Value: phase}
	}
	all := slices.Concat([]history.Event{mark(1, history.PhaseLoad)}, h.events, []history.Event{mark(tinyMoment(h.moments+1), history.PhaseEnd)})
	events := func(yield func(history.Event, error) bool) {
		for i, e := range all {
			e.Index = int64(i)
			if !yield(e, nil) {
				return
			}
		}
	}
	result, _, err := Check(model.Recording{Plan: h.plan(), Events: events, Requests: func(func(history.Request, error) bool) {}},
		Options{Properties: serviceNames, Unconfirmed: true})
	if err != nil {
		return nil, err
	}
	return worldFindings(result), nil
}

func anyHold(int8) bool       { return true }
func anyOther(_, _ int8) bool { return true }

// lie reports whether there is a world with this history in which a finding is not so.
func (h *tinyHistory) lie(f worldFinding) bool {
	number := func(hold string) int8 { n, _ := strconv.Atoi(hold[1:]); return int8(n) }
	switch f.of {
	case model.LockLinearizability:
		return h.possible(worldGuilt{tokens: !strings.Contains(f.summary, "no order fits both")})
	case model.EarlyExpiry:
		lost := number(f.incident) - 1
		return h.possible(worldGuilt{tokens: !strings.Contains(f.summary, byTokensWords), loses: func(h int8) bool { return h != lost }, removes: func(_, h int8) bool { return h != lost }})
	case model.ReleaseByOwner:
		lost, by := number(f.incident)-1, number(f.holds[0])-1
		return h.possible(worldGuilt{tokens: true, loses: anyHold, removes: func(q, h int8) bool { return q != by || h != lost }})
	}
	g := worldGuilt{tokens: true, loses: anyHold, removes: anyOther}
	first, then := number(f.holds[0]), number(f.holds[1])
	if h.holds[first-1].token == h.holds[then-1].token {
		g.shared = [2]int8{first, then}
	} else {
		g.notInOrder = [2]int8{first, then}
	}
	return h.possible(g)
}

const byTokensWords = ", after it by their tokens"

// TestTinyHistories holds what is found in tiny histories against a search for a world in which it is not so: of 8 events, drawn; or, where
// LOCKCHECK_TINY says of how many, all of them.
func TestTinyHistories(t *testing.T) {
	whole, _ := strconv.Atoi(os.Getenv("LOCKCHECK_TINY"))
	var all tinyCount
	began := time.Now()
	kinds := tinyKinds(whole > 0)
	for _, k := range kinds {
		var n tinyCount
		from := time.Now()
		if whole == 0 {
			for seed := range uint64(max(1, testkit.Histories(t, 80_000)/len(kinds))) {
				r := rand.New(rand.NewPCG(seed, 41))
				k.ttl, k.fine, k.c = int8(r.IntN(6)), true, &worldChoices{r: r, even: seed%2 == 0}
				h := k
				h.make(8)
				n.take(t, &h)
			}
		} else {
			for c := (&worldChoices{}); ; {
				h := k
				h.c = c
				h.ttl = []int8{1, 3}[c.one(2)]
				h.make(whole)
				n.take(t, &h)
				if !c.next() {
					break
				}
			}
			t.Logf("release %q, sessions: %s, leases %v, tokens %v: %v in %v", k.kind, k.named, k.leases, k.tokens, &n, time.Since(from).Round(time.Millisecond))
		}
		all.add(&n)
	}
	t.Logf("all: %v in %v", &all, time.Since(began).Round(time.Millisecond))
	if all.innocent == 0 || all.innocent == all.histories {
		t.Error("all are innocent, or none is: they prove nothing")
	}
}

// tinyKinds are all kinds of tiny histories, or, of those that are gone through in whole, the ones that say most.
func tinyKinds(whole bool) (kinds []tinyHistory) {
	for _, kind := range []history.ReleaseKind{history.ReleaseChecked, history.ReleaseUnchecked, ""} {
		for _, named := range []sessionNames{sessionOfGrant, sessionOfClient, sessionUnnamed} {
			for of := range 4 {
				k := tinyHistory{kind: kind, named: named, leases: of&1 == 0, tokens: of&2 != 0}
				if !whole || k.leases && named != sessionUnnamed {
					kinds = append(kinds, k)
				}
			}
		}
	}
	return kinds
}

// tinyClaims are what a history may prove: that there is no world of it without this.
var tinyClaims = [...]struct {
	name      string
	without   worldGuilt
	by        []model.Name
	worldless bool // of histories that no world has: the service contradicts itself
}{
	{"a grant was lost early", worldGuilt{tokens: true}, []model.Name{model.EarlyExpiry, model.ReleaseByOwner, model.LockLinearizability}, false},
	{"another's release removed one", worldGuilt{tokens: true, loses: anyHold}, []model.Name{model.ReleaseByOwner}, false},
	{"tokens went back", worldGuilt{loses: anyHold, removes: anyOther}, []model.Name{model.TokenMonotonicity}, false},
	{"any of these", worldGuilt{}, serviceNames, false},
	{"the service contradicts itself", worldGuilt{}, serviceNames, true},
}

// tinyCount counts histories, what is found in them, and of what they prove what is not.
type tinyCount struct {
	histories, innocent, worldless, untrue, told int
	found                                        map[model.Name]int
	proven, missed                               [len(tinyClaims)]int
}

func (n *tinyCount) take(t *testing.T, h *tinyHistory) {
	n.histories++
	findings, err := h.judge()
	if err != nil {
		t.Fatalf("%v\n%s", err, h)
	}
	var of []model.Name
	for _, f := range findings {
		of = append(of, f.of)
		n.count(f.of, 1)
		if h.lie(f) {
			n.untrue++
			if n.told++; n.told <= 3 {
				t.Errorf("release %q, sessions: %s; not so: %s: %s\n%s", h.kind, h.named, f.of, f.summary, h)
			}
		}
	}
	if h.possible(worldGuilt{}) {
		n.innocent++
		return
	}
	worlds := h.possible(worldGuilt{tokens: true, loses: anyHold, removes: anyOther})
	if !worlds {
		n.worldless++
	}
	for i, claim := range tinyClaims {
		if worlds != claim.worldless && !h.possible(claim.without) {
			if n.proven[i]++; !slices.ContainsFunc(of, func(name model.Name) bool { return slices.Contains(claim.by, name) }) {
				n.missed[i]++
			}
		}
	}
}

func (n *tinyCount) count(name model.Name, more int) {
	if n.found == nil {
		n.found = map[model.Name]int{}
	}
	n.found[name] += more
}

func (n *tinyCount) add(more *tinyCount) {
	n.histories, n.innocent, n.worldless, n.untrue = n.histories+more.histories, n.innocent+more.innocent, n.worldless+more.worldless, n.untrue+more.untrue
	for i := range tinyClaims {
		n.proven[i], n.missed[i] = n.proven[i]+more.proven[i], n.missed[i]+more.missed[i]
	}
	for name, count := range more.found {
		n.count(name, count)
	}
}

func (n *tinyCount) String() string {
	text := fmt.Sprintf("%d histories, %d innocent, %d of no world at all, %d untrue findings, found %v", n.histories, n.innocent, n.worldless, n.untrue, n.found)
	for i, claim := range tinyClaims {
		if n.proven[i] > 0 {
			text += fmt.Sprintf("; %s: proven by %d, missed %d (%.0f %%)", claim.name, n.proven[i], n.missed[i], 100*float64(n.missed[i])/float64(n.proven[i]))
		}
	}
	return text
}
