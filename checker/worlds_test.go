package checker

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"lockcheck/checker/history"
)

// The oracle of possible worlds. A world is what truly happened between a lock service, its network and up to three clients of one lock, step
// by step; a history is what the harness can have recorded of it. All that is free is a choice, so that the worlds can be enumerated, or
// drawn. What is found has to be true: a grant was lost early, by that release, tokens went back. Of the histories of a faulty service that no
// innocent world has, the share that is not found is printed.

// worldChoices make a world out of numbers: those it is given, then zeros (which enumeration counts up), or random ones.
type worldChoices struct {
	taken, of []int
	r         *rand.Rand
	at        int
}

func (c *worldChoices) one(n int) int {
	if c.at == len(c.taken) {
		v := 0
		if c.r != nil {
			v = c.r.IntN(n)
		}
		c.taken, c.of = append(c.taken, v), append(c.of, n)
	}
	c.at++
	return c.taken[c.at-1]
}

func (c *worldChoices) yes() bool { return c.one(2) == 1 }

// next goes on to the next world; false after the last.
func (c *worldChoices) next() bool {
	c.at = 0
	for n := len(c.taken) - 1; n >= 0; n-- {
		if c.taken[n]++; c.taken[n] < c.of[n] {
			c.taken, c.of = c.taken[:n+1], c.of[:n+1]
			return true
		}
	}
	return false
}

// worldKind is what is the same in all worlds of an enumeration.
type worldKind struct {
	kind   history.ReleaseKind // how releases are declared
	steps  int
	leases bool // reports of them
	shared bool // a client has one session for all its grants
	fault  worldFault
}

// worldFault is what the service may do wrong: lose a record, or, of several servers after a fault, keep two; and give a token late.
type worldFault int

const (
	innocent worldFault = iota
	losing
	twoMasters
)

// worldPhase is how far a hold has come.
type worldPhase int

const (
	worldAsked worldPhase = iota
	worldGiven            // granted, and not read
	worldRead
	worldOver
)

type worldHold struct {
	id, client        string
	phase             worldPhase
	op                int64
	askedNS, expires  int64
	there, lost, late bool // its record is there; it was lost early; its token was drawn when it was not there
	remover           string
	token, order      int
}

type possibleWorld struct {
	worldKind
	c      *worldChoices
	events []history.Event
	holds  []*worldHold
	dead   map[string]bool
	op     int64
	now    int64
	tokens int
	grants int
	wrong  bool // the service or a client did what it must not
}

const worldTTL = 4 * tick

func (w *possibleWorld) say(client string, kind history.Type, f history.F, h *worldHold, change func(*history.Event)) {
	e := history.Event{Index: int64(len(w.events)), TimeNS: w.now, Process: client, Client: client, Type: kind, F: f}
	if h != nil {
		e.Hold, e.Key, e.Op = h.id, "k", h.op
	}
	if change != nil {
		change(&e)
	}
	w.events = append(w.events, e)
}

// owner is the hold whose record a client finds; nil if there is none.
func (w *possibleWorld) owner() *worldHold {
	for _, h := range slices.Backward(w.holds) {
		if h.there && h.expires > w.now {
			return h
		}
	}
	return nil
}

func (w *possibleWorld) session(h *worldHold) string {
	if w.shared {
		return "s" + h.client
	}
	return "s" + h.id
}

func (w *possibleWorld) lease(h *worldHold, seen int64) {
	if w.leases {
		w.say(h.client, history.OK, history.Renew, nil, func(e *history.Event) { e.Session, e.SeenNS, e.TTLNS = w.session(h), seen, worldTTL })
	}
}

// make makes one world. Every step takes a tick, and what is recorded of it comes half a tick before or after.
func (w *possibleWorld) make() {
	w.dead = map[string]bool{}
	w.now = tick
	w.events = append(w.events, history.Event{Process: history.HarnessProcess, Type: history.Info, F: history.Phase, Value: history.PhaseLoad})
	w.events[0].TimeNS = w.now
	if w.fault == twoMasters {
		e := history.Event{Index: 1, TimeNS: w.now, Process: history.NemesisProcess, Type: history.Invoke, F: history.KillFault, Op: 1_000_000, Target: "n1"}
		w.events = append(w.events, e)
		for _, heal := range []bool{false, true} {
			e.Index, e.Type, e.Heal = e.Index+1, history.OK, heal
			w.events = append(w.events, e)
		}
	}
	for range w.steps {
		w.now += tick
		client := string(rune('a' + w.c.one(3)))
		at := slices.IndexFunc(w.holds, func(h *worldHold) bool { return h.client == client && h.phase != worldOver })
		switch {
		case w.dead[client]:
			w.now += tick * int64(w.c.one(3))
		case at < 0:
			w.op++
			h := &worldHold{id: fmt.Sprint("h", w.op), client: client, op: w.op, askedNS: w.now}
			w.holds = append(w.holds, h)
			w.say(client, history.Invoke, history.Acquire, h, nil)
		default:
			w.step(w.holds[at])
		}
	}
	w.now += tick
	w.events = append(w.events, history.Event{Index: int64(len(w.events)), TimeNS: w.now, Process: history.HarnessProcess, Type: history.Info, F: history.Phase, Value: history.PhaseEnd})
}

func (w *possibleWorld) step(h *worldHold) {
	switch h.phase {
	case worldAsked:
		w.ask(h)
	case worldGiven:
		switch w.c.one(3) {
		case 0, 1:
			w.read(h)
		default: // the answer is lost
			h.phase = worldOver
			w.say(h.client, history.Info, history.Acquire, h, func(e *history.Event) { e.Session = w.session(h) })
		}
	default:
		w.hold(h)
	}
}

func (w *possibleWorld) ask(h *worldHold) {
	owner := w.owner()
	second := owner != nil && w.fault != innocent && w.c.yes()
	switch {
	case owner == nil || second:
		if second { // the old record is lost, or there are two
			w.wrong, owner.lost, owner.there = true, true, w.fault == twoMasters && w.c.yes()
		}
		w.grants++
		h.phase, h.there, h.expires, h.order = worldGiven, true, w.now+worldTTL, w.grants
		if late := w.fault != innocent && w.c.yes(); !late {
			w.tokens++
			h.token = w.tokens
		}
		if w.c.yes() {
			w.now += tick / 2
			w.read(h)
		}
	case w.c.yes(): // given up
		h.phase = worldOver
		w.say(h.client, history.Fail, history.Acquire, h, func(e *history.Event) { e.Code = history.CodeCancelled })
	}
}

func (w *possibleWorld) read(h *worldHold) {
	if h.token == 0 {
		w.tokens++
		h.token, h.late, w.wrong = w.tokens, w.owner() != h, true
	}
	h.phase = worldRead
	seen := int64(0)
	if w.c.yes() {
		seen = h.expires - worldTTL
	}
	w.lease(h, max(seen, h.askedNS))
	w.say(h.client, history.OK, history.Acquire, h, func(e *history.Event) {
		e.Session, e.SeenNS, e.Token = w.session(h), seen, strconv.Itoa(h.token)
	})
}

func (w *possibleWorld) hold(h *worldHold) {
	switch w.c.one(4) {
	case 0: // time passes
		w.now += tick * 2
	case 1: // an extension, which looks whose record it is
		if w.owner() == h {
			sent := w.now
			h.expires = w.now + worldTTL
			w.now += tick / 2
			w.lease(h, sent)
		}
	case 2:
		w.release(h)
	default: // it dies, and may tidy up; its end is read later, perhaps after it was asked to close
		w.dead[h.client], h.phase = true, worldOver
		if w.c.yes() {
			h.there = false
		}
		if w.c.yes() {
			w.say(h.client, history.Invoke, history.Exit, nil, nil)
		}
		w.now += tick
		w.say(h.client, history.Info, history.Exit, nil, nil)
	}
}

// release sends a request to delete, which is carried out at once or later, and answered or not.
func (w *possibleWorld) release(h *worldHold) {
	w.op++
	op := w.op
	h.phase = worldOver
	about := func(e *history.Event) { e.Op = op }
	w.say(h.client, history.Invoke, history.Release, h, about)
	w.now += tick / 2
	sent := w.now
	found := w.owner()
	checked := w.looks()
	switch {
	case found == h || found != nil && !checked:
		if found.there = false; found != h && found.expires > w.now {
			found.lost, found.remover = true, h.id
		}
	case checked || found == nil:
		found = nil
	}
	w.now += tick / 2
	switch {
	case w.c.one(3) == 2:
		w.say(h.client, history.Info, history.Release, h, about)
	case checked:
		own := found == h
		w.say(h.client, history.OK, history.Release, h, func(e *history.Event) { e.Op, e.Owned, e.SeenNS = op, &own, sent })
	default: // one that does not look may say of any record that it was its own
		any, boasts := found != nil, w.c.yes()
		w.say(h.client, history.OK, history.Release, h, func(e *history.Event) {
			if e.Op, e.SeenNS = op, sent; boasts {
				e.Owned = &any
			} else {
				e.Removed = any
			}
		})
	}
}

// looks reports whether the release looks whose record it deletes. One that is not declared may do either.
func (w *possibleWorld) looks() bool {
	if w.kind == "" {
		return w.c.yes()
	}
	return w.kind == history.ReleaseChecked
}

// plan: two masters need several servers.
func (w *possibleWorld) plan() history.Plan {
	p := history.Plan{Version: history.FormatVersion, Nodes: 1, TTLMS: worldTTL / 1e6, EffectiveMS: worldTTL / 1e6, Tokens: history.TokensOrdered, SameKernel: true, Release: w.kind}
	if w.fault == twoMasters {
		p.Nodes = 3
	}
	return p
}

var serviceNames = []Name{LockLinearizability, EarlyExpiry, ReleaseByOwner, TokenMonotonicity}

// judge says what is found, and what of it is not true.
func (w *possibleWorld) judge() (found map[Name]bool, lie string, err error) {
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
		return nil, "", err
	}
	byID := map[string]*worldHold{}
	anyLost, anyLate := false, false
	for _, h := range w.holds {
		byID[h.id] = h
		anyLost, anyLate = anyLost || h.lost, anyLate || h.late
	}
	found = map[Name]bool{}
	for _, p := range result.Properties {
		for _, f := range p.Findings {
			found[p.Name] = true
			first := byID[f.Holds[0]]
			so := anyLost || anyLate
			switch p.Name {
			case ReleaseByOwner:
				so = slices.ContainsFunc(w.holds, func(h *worldHold) bool { return h.lost && h.remover == first.id })
			case TokenMonotonicity:
				so = anyLate
			}
			if !so {
				lie = fmt.Sprintf("%s: %s", p.Name, f.Summary)
			}
		}
	}
	return found, lie, nil
}

func (w *possibleWorld) String() (text string) {
	for _, e := range w.events {
		if e.Index = 0; e.Process != history.NemesisProcess {
			text += string(history.AppendEvent(nil, &e)) + "\n"
		}
	}
	return text
}

var worldSeed = maphash.MakeSeed()

// TestPossibleWorlds draws worlds of 12 steps, or, where LOCKCHECK_WORLDS says of how many steps, goes through all of them.
func TestPossibleWorlds(t *testing.T) {
	steps, _ := strconv.Atoi(os.Getenv("LOCKCHECK_WORLDS"))
	for _, kind := range []history.ReleaseKind{history.ReleaseChecked, history.ReleaseUnchecked, ""} {
		for _, leases := range []bool{true, false} {
			for _, shared := range []bool{false, true} {
				s := worldSet{told: map[uint64]bool{}, of: map[Name]int{}}
				began := time.Now()
				for _, fault := range []worldFault{innocent, losing, twoMasters} {
					of := worldKind{kind, cmp.Or(steps, 12), leases, shared, fault}
					if steps == 0 {
						for seed := range uint64(histories(t, 6000)) / 12 {
							s.take(t, &possibleWorld{worldKind: of, c: &worldChoices{r: rand.New(rand.NewPCG(seed, uint64(fault)))}})
						}
						continue
					}
					for c := (&worldChoices{}); ; {
						s.take(t, &possibleWorld{worldKind: of, c: c})
						if !c.next() {
							break
						}
					}
				}
				t.Logf("release %q, leases %v, shared sessions %v: %d worlds in %v, %d untrue findings; of %d histories that no innocent world has, nothing is found in %d; found: %v",
					kind, leases, shared, s.worlds, time.Since(began).Round(time.Millisecond), s.untrue, s.guilty, s.missed, s.of)
			}
		}
	}
}

// worldSet counts what is found in worlds.
type worldSet struct {
	told                           map[uint64]bool // the histories so far
	worlds, untrue, guilty, missed int
	of                             map[Name]int
}

func (s *worldSet) take(t *testing.T, w *possibleWorld) {
	w.make()
	s.worlds++
	found, untrue, err := w.judge()
	if err != nil {
		t.Fatalf("%v\n%s", err, w)
	}
	if untrue != "" {
		if s.untrue++; s.untrue <= 2 {
			t.Errorf("not so: %s\n%s", untrue, w)
		}
	}
	text := maphash.String(worldSeed, w.String())
	if w.wrong && !s.told[text] {
		s.guilty++
		if len(found) == 0 {
			s.missed++
		}
		for name := range found {
			s.of[name]++
		}
	}
	s.told[text] = true
}
