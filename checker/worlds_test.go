package checker

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"math/rand/v2"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
	"lockcheck/checker/testkit"
)

// The oracle of possible worlds. Worlds (see possibleWorld) are enumerated, or drawn, and the history of each is judged. What is found has to
// be true in every world that has this history, those of a faulty service included: a grant was lost early, by that release, tokens went back.
// Where all worlds were gone through, it is known, too, what a history proves: what is wrong in all its worlds. The share of that which is
// not found is printed.

var serviceNames = []model.Name{model.LockLinearizability, model.EarlyExpiry, model.ReleaseByOwner, model.TokenMonotonicity}

// worldFinding is what of a finding has to be true.
type worldFinding struct {
	of                model.Name
	summary, incident string
	holds             []string
}

// judge says what is found.
func (w *possibleWorld) judge() (found []worldFinding, err error) {
	events := func(yield func(history.Event, error) bool) {
		for _, e := range w.events {
			if !yield(e, nil) {
				return
			}
		}
	}
	result, _, err := Check(model.Recording{Plan: w.plan(), Events: events, Requests: func(func(history.Request, error) bool) {}},
		Options{Properties: serviceNames, Unconfirmed: true})
	if err != nil {
		return nil, err
	}
	return worldFindings(result), nil
}

func worldFindings(result *model.Result) (found []worldFinding) {
	for _, p := range result.Properties {
		for _, f := range p.Findings {
			found = append(found, worldFinding{p.Name, f.Summary, f.Incident, f.Holds})
		}
	}
	return found
}

// lies are the findings that are not so in a world.
func (w *possibleWorld) lies(found []worldFinding) (lies []string) {
	if len(found) == 0 {
		return nil
	}
	byID := map[string]*worldHold{}
	for _, h := range w.holds {
		byID[h.id] = h
	}
	is := w.truth()
	for _, f := range found {
		so := is.lost
		switch f.of {
		case model.LockLinearizability: // it may leave open whether it was the tokens
			so = is.lost || is.undue || is.disorder && strings.Contains(f.summary, "no order fits both")
		case model.EarlyExpiry: // which says so where it goes by tokens
			so = byID[f.incident].lost || strings.Contains(f.summary, ", after it by their tokens") && wentBack(byID[f.holds[len(f.holds)-1]], byID[f.incident])
		case model.ReleaseByOwner:
			so = slices.Contains(byID[f.incident].removers, f.holds[0])
		case model.TokenMonotonicity:
			so = wentBack(byID[f.holds[0]], byID[f.holds[1]])
		}
		if !so {
			lies = append(lies, fmt.Sprintf("%s: %s", f.of, f.summary))
		}
	}
	return lies
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

// TestPossibleWorlds draws worlds of 12 steps, or, where LOCKCHECK_WORLDS says of how many steps, goes through all of them: "5" of those
// whose acquires wait and ask again, "3+" of those with tries, queues, take-overs and stalls, too.
func TestPossibleWorlds(t *testing.T) {
	whole, more := strings.CutSuffix(os.Getenv("LOCKCHECK_WORLDS"), "+")
	steps, _ := strconv.Atoi(whole)
	if steps > 0 {
		defer debug.SetGCPercent(debug.SetGCPercent(800))
	}
	var all worldCount
	began := time.Now()
	kinds := worldKinds(steps > 0)
	for _, k := range kinds {
		k.steps, k.more = cmp.Or(steps, 12), more
		n := worldCount{}
		from := time.Now()
		for _, fault := range []worldFault{losing, restoring, twoMasters} {
			s := worldSet{worldCount: &n, proven: map[uint64]provenWorlds{}}
			k.fault = fault
			if steps == 0 {
				for seed := range uint64(testkit.Histories(t, 90_000)) / uint64(3*len(kinds)) {
					k.honest, k.more = seed%2 == 0, seed%4 < 2
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
	found                     map[model.Name]int
	proven, missed            [len(worldClaims)]int
}

// worldClaims are what a history can prove, and the properties that say so.
var worldClaims = [...]struct {
	name   string
	proven func(worldTruth) bool
	by     []model.Name
}{
	{"a grant was lost early", func(is worldTruth) bool { return is.lost }, []model.Name{model.EarlyExpiry, model.ReleaseByOwner}},
	{"another's release removed one", func(is worldTruth) bool { return is.removed }, []model.Name{model.ReleaseByOwner}},
	{"tokens went back", func(is worldTruth) bool { return is.disorder }, []model.Name{model.TokenMonotonicity}},
	{"a try was refused without a holder", func(is worldTruth) bool { return is.undue }, []model.Name{model.LockLinearizability}},
	{"any of these", func(is worldTruth) bool { return is.lost || is.disorder || is.undue }, serviceNames},
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

func (c *worldCount) count(name model.Name, n int) {
	if c.found == nil {
		c.found = map[model.Name]int{}
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
	text   []byte
}

// provenWorlds is what is wrong in all worlds of a history, and which claims are found in it.
type provenWorlds struct {
	worldTruth
	found []worldFinding
}

var worldSeed = maphash.MakeSeed()

// take judges a world: each history once, and each world by what is found in its history.
func (s *worldSet) take(t *testing.T, w *possibleWorld) {
	w.make()
	s.worlds++
	s.text = w.appendTo(s.text[:0])
	name := maphash.Bytes(worldSeed, s.text)
	p, known := s.proven[name]
	is := w.truth()
	if known {
		p.worldTruth = p.and(is)
	} else {
		found, err := w.judge()
		if err != nil {
			t.Fatalf("%v\n%s", err, w)
		}
		p = provenWorlds{is, found}
	}
	var of []model.Name
	for _, f := range p.found {
		if !slices.Contains(of, f.of) {
			of = append(of, f.of)
			s.count(f.of, 1)
		}
	}
	if lies := w.lies(p.found); len(lies) > 0 {
		s.untrue++
		if s.told++; s.told <= 1 {
			t.Errorf("release %q, sessions: %s, %s; not so: %s\n%s", w.kind, w.named, w.fault, strings.Join(lies, "; "), w)
		}
	}
	if w.c.r == nil {
		s.proven[name] = p
	}
}

// close counts what the histories prove, once all worlds have been gone through.
func (s *worldSet) close() {
	s.histories += len(s.proven)
	for _, p := range s.proven {
		for i, claim := range worldClaims {
			if claim.proven(p.worldTruth) {
				if s.worldCount.proven[i]++; !slices.ContainsFunc(p.found, func(f worldFinding) bool { return slices.Contains(claim.by, f.of) }) {
					s.missed[i]++
				}
			}
		}
	}
}
