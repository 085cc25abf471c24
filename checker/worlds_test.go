package checker

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"lockcheck/checker/history"
)

// The oracle of possible worlds. Worlds (see possibleWorld) are enumerated, or drawn, and the history of each is judged. What is found has to
// be true in every world that has this history, those of a faulty service included: a grant was lost early, by that release, tokens went back.
// Where all worlds were gone through, it is known, too, what a history proves: what is wrong in all its worlds. The share of that which is
// not found is printed.

var serviceNames = []Name{LockLinearizability, EarlyExpiry, ReleaseByOwner, TokenMonotonicity}

// judge says what is found, and what of it is not true.
func (w *possibleWorld) judge() (found map[Name]bool, lies []string, err error) {
	events := func(yield func(history.Event, error) bool) {
		for _, e := range w.events {
			if !yield(e, nil) {
				return
			}
		}
	}
	result, _, err := Check(Recording{Plan: w.plan(), Events: events, Requests: func(func(history.Request, error) bool) {}},
		Options{Properties: serviceNames, Unconfirmed: true})
	if err != nil {
		return nil, nil, err
	}
	byID := map[string]*worldHold{}
	for _, h := range w.holds {
		byID[h.id] = h
	}
	is := w.truth()
	found = map[Name]bool{}
	for _, p := range result.Properties {
		for _, f := range p.Findings {
			found[p.Name] = true
			so := is.lost
			switch p.Name {
			case LockLinearizability: // it may leave open whether it was the tokens
				so = is.lost || is.disorder && strings.Contains(f.Summary, "no order fits both")
			case EarlyExpiry: // which says so where it goes by tokens
				so = byID[f.Incident].lost || strings.Contains(f.Summary, byTokens) && wentBack(byID[f.Holds[len(f.Holds)-1]], byID[f.Incident])
			case ReleaseByOwner:
				so = byID[f.Incident].remover == f.Holds[0]
			case TokenMonotonicity:
				so = wentBack(byID[f.Holds[0]], byID[f.Holds[1]])
			}
			if !so {
				lies = append(lies, fmt.Sprintf("%s: %s", p.Name, f.Summary))
			}
		}
	}
	return found, lies, nil
}

// worldKinds are all kinds of worlds, or, of those that are gone through in whole, the ones that say most.
func worldKinds(whole bool) (kinds []worldKind) {
	for _, kind := range []history.ReleaseKind{history.ReleaseChecked, history.ReleaseUnchecked, ""} {
		for _, named := range []sessionNames{sessionOfGrant, sessionOfClient, sessionUnnamed} {
			for of := range 8 {
				k := worldKind{kind: kind, named: named, leases: of&1 == 0, tokens: of&2 == 0, seen: of&4 == 0}
				if !whole || of == 0 && named != sessionUnnamed {
					kinds = append(kinds, k)
				}
			}
		}
	}
	return kinds
}

// TestPossibleWorlds draws worlds of 12 steps, or, where LOCKCHECK_WORLDS says of how many steps, goes through all of them.
func TestPossibleWorlds(t *testing.T) {
	steps, _ := strconv.Atoi(os.Getenv("LOCKCHECK_WORLDS"))
	var all worldCount
	began := time.Now()
	kinds := worldKinds(steps > 0)
	for _, k := range kinds {
		k.steps = cmp.Or(steps, 12)
		n := worldCount{}
		from := time.Now()
		for _, fault := range []worldFault{losing, restoring, twoMasters} {
			s := worldSet{worldCount: &n, proven: map[uint64]provenWorlds{}}
			k.fault = fault
			if steps == 0 {
				for seed := range uint64(histories(t, 90_000)) / uint64(3*len(kinds)) {
					k.honest = seed%2 == 0
					s.take(t, &possibleWorld{worldKind: k, c: &worldChoices{r: rand.New(rand.NewPCG(seed, 31))}})
				}
				continue
			}
			for c := (&worldChoices{}); ; {
				s.take(t, &possibleWorld{worldKind: k, c: c})
				if !c.next() {
					break
				}
			}
			s.close()
			t.Logf("release %q, sessions: %s, %s: %d worlds so far, %v", k.kind, k.named, fault, n.worlds, time.Since(from).Round(time.Millisecond))
		}
		if steps > 0 {
			t.Logf("release %q, sessions: %s, leases %v, tokens %v: %v in %v", k.kind, k.named, k.leases, k.tokens, &n, time.Since(from).Round(time.Millisecond))
		}
		all.add(&n)
	}
	t.Logf("all: %v in %v", &all, time.Since(began).Round(time.Millisecond))
}

// worldCount counts worlds, what is found in them, and of what their histories prove what is not.
type worldCount struct {
	worlds, histories, untrue int
	found                     map[Name]int
	proven, missed            [len(worldClaims)]int
}

// worldClaims are what a history can prove, and the properties that say so.
var worldClaims = [...]struct {
	name   string
	proven func(worldTruth) bool
	by     []Name
}{
	{"a grant was lost early", func(is worldTruth) bool { return is.lost }, []Name{EarlyExpiry, ReleaseByOwner}},
	{"another's release removed one", func(is worldTruth) bool { return is.removed }, []Name{ReleaseByOwner}},
	{"tokens went back", func(is worldTruth) bool { return is.disorder }, []Name{TokenMonotonicity}},
	{"any of these", func(is worldTruth) bool { return is.lost || is.disorder }, serviceNames},
}

func (c *worldCount) add(n *worldCount) {
	c.worlds, c.histories, c.untrue = c.worlds+n.worlds, c.histories+n.histories, c.untrue+n.untrue
	for i := range worldClaims {
		c.proven[i], c.missed[i] = c.proven[i]+n.proven[i], c.missed[i]+n.missed[i]
	}
	for name, count := range n.found {
		c.count(name, count)
	}
}

func (c *worldCount) count(name Name, n int) {
	if c.found == nil {
		c.found = map[Name]int{}
	}
	c.found[name] += n
}

func (c *worldCount) String() string {
	text := fmt.Sprintf("%d worlds, %d untrue findings, found %v", c.worlds, c.untrue, c.found)
	if c.histories > 0 {
		text += fmt.Sprintf(", %d histories", c.histories)
	}
	for i, claim := range worldClaims {
		if c.proven[i] > 0 {
			text += fmt.Sprintf("; %s: proven by %d, missed %d (%.0f %%)", claim.name, c.proven[i], c.missed[i], 100*float64(c.missed[i])/float64(c.proven[i]))
		}
	}
	return text
}

// worldSet are the worlds of one kind and setting.
type worldSet struct {
	*worldCount
	proven map[uint64]provenWorlds // by their history
	told   int
}

// provenWorlds is what is wrong in all worlds of a history, and which claims are found in it.
type provenWorlds struct {
	worldTruth
	found [len(worldClaims)]bool
}

var worldSeed = maphash.MakeSeed()

func (s *worldSet) take(t *testing.T, w *possibleWorld) {
	w.make()
	s.worlds++
	found, lies, err := w.judge()
	if err != nil {
		t.Fatalf("%v\n%s", err, w)
	}
	for name := range found {
		s.count(name, 1)
	}
	if len(lies) > 0 {
		s.untrue++
		if s.told++; s.told <= 1 {
			t.Errorf("release %q, sessions: %s, %s; not so: %s\n%s", w.kind, w.named, w.fault, strings.Join(lies, "; "), w)
		}
	}
	if w.c.r != nil {
		return
	}
	text := maphash.String(worldSeed, w.String())
	p, known := s.proven[text]
	if is := w.truth(); known {
		p.worldTruth = p.and(is)
	} else {
		p.worldTruth = is
		for i, claim := range worldClaims {
			for _, name := range claim.by {
				p.found[i] = p.found[i] || found[name]
			}
		}
	}
	s.proven[text] = p
}

// close counts what the histories prove, once all worlds have been gone through.
func (s *worldSet) close() {
	s.histories += len(s.proven)
	for _, p := range s.proven {
		for i, claim := range worldClaims {
			if claim.proven(p.worldTruth) {
				if s.worldCount.proven[i]++; !p.found[i] {
					s.missed[i]++
				}
			}
		}
	}
}
