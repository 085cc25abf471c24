package checker

import (
	"cmp"
	"hash/maphash"
	"maps"
	"math"
	"slices"

	"github.com/anishathalye/porcupine"

	"lockcheck/checker/history"
	"lockcheck/checker/internal/search"
)

// Translations of J6 and J7 for Porcupine that share nothing with the checker's: here every request, answer, promise and
// ending is an operation of its own on a lock that knows who has it, who ever had it, and which sessions are over.

type lockState struct {
	holder int    // 0: free
	had    uint64 // bit i: hold i was granted at some time
	dead   uint64 // bit i: hold i cannot be granted any more
}

type lockOp struct {
	name string
	does func(lockState) (bool, lockState)
}

var plainLock = porcupine.Model{
	Init:              func() any { return lockState{} },
	Step:              func(state, input, _ any) (bool, any) { return afterStep(input.(lockOp).does(state.(lockState))) },
	Hash:              func(state any) uint64 { s := state.(lockState); return uint64(s.holder)*31 + s.had*131 + s.dead*1031 },
	DescribeOperation: func(input, _ any) string { return input.(lockOp).name },
}

func afterStep(ok bool, s lockState) (bool, any) { return ok, s }

// explains reports whether an order explains the operations of every key; undecided if that takes more than o.steps to find
// out.
func (o *oracle) explains(model porcupine.Model, byKey map[string][]porcupine.Operation) search.Answer {
	for _, key := range slices.Sorted(maps.Keys(byKey)) {
		left := cmp.Or(o.steps, math.MaxInt)
		legally := porcupine.CheckOperations(search.Limited(model, &left), byKey[key])
		switch {
		case left < 0:
			return search.Undecided
		case !legally:
			return search.Illegal
		}
	}
	return search.Legal
}

// lockExplained asks whether an order explains all lock operations of the recording, on every key.
func (o *oracle) lockExplained() search.Answer {
	for _, c := range o.contradicted() {
		if c[0].done < o.provenUntil(c[1]) {
			return search.Illegal
		}
	}
	byKey := map[string][]*fact{}
	for _, h := range o.holds {
		byKey[h.key] = append(byKey[h.key], h)
	}
	operations := map[string][]porcupine.Operation{}
	for key, holds := range byKey {
		operations[key] = o.lockOperations(holds)
	}
	return o.explains(plainLock, operations)
}

func (o *oracle) lockOperations(holds []*fact) (ops []porcupine.Operation) {
	const end = math.MaxInt64
	add := func(name string, from, to int64, does func(lockState) (bool, lockState)) {
		ops = append(ops, porcupine.Operation{ClientId: len(ops), Input: lockOp{does: does, name: name}, Call: from, Return: to})
	}
	sessions := map[string]uint64{}
	for i, h := range holds {
		id, bit := i+1, uint64(1)<<i
		take := func(s lockState) lockState { s.holder, s.had = id, s.had|bit; return s }
		free := func(s lockState) (bool, lockState) {
			if s.holder == id {
				s.holder = 0
			}
			return true, s
		}
		has := func(s lockState) (bool, lockState) { return s.holder == id, s }
		switch {
		case h.outcome == history.OK:
			if h.session != "" {
				sessions[h.session] |= bit
			}
			// A grant that is over, by its own end or that of its session, is not made again.
			add("granted "+h.id, h.start(), h.done, func(s lockState) (bool, lockState) { return s.holder == 0 && s.dead&bit == 0, take(s) })
			add("expires "+h.id, h.start(), end, free)
			if until := o.protected(h); until != 0 {
				add("protected "+h.id, until, until, has)
			}
		case h.outcome == history.Info || h.outcome == history.Invoke, h.outcome == history.Fail && (h.code == history.CodeCancelled || h.gaveBack):
			over := int64(end)
			if h.outcome == history.Fail { // given up
				over = h.done
			}
			add("perhaps granted "+h.id, h.start(), over, func(s lockState) (bool, lockState) {
				if s.holder == 0 && s.dead&bit == 0 {
					return true, take(s)
				}
				return true, s
			})
			add("perhaps over "+h.id, h.start(), over, func(s lockState) (bool, lockState) { s.dead |= bit; return free(s) })
		case h.try && h.code == history.CodeBusy && o.plan.TryAtomic:
			add("busy "+h.id, h.start(), h.done, func(s lockState) (bool, lockState) { return s.holder != 0, s })
		}
		if h.outcome != history.OK {
			continue
		}
		for _, a := range h.attempts {
			switch {
			case a.acted() && !o.proves(h, &a) && a.f == history.Release:
				add("gone "+h.id, a.sent(), a.done, func(s lockState) (bool, lockState) { ok, t := free(s); return ok && s.had&bit != 0, t })
			case a.acted() && !o.proves(h, &a):
			case a.acted() && a.f == history.Renew:
				add("extended "+h.id, a.sent(), a.done, has)
			case a.acted():
				add("released "+h.id, a.sent(), a.done, func(s lockState) (bool, lockState) { ok := s.holder == id; s.holder = 0; return ok, s })
			case a.notOwned():
				add("not owned "+h.id, a.sent(), a.done, func(s lockState) (bool, lockState) { return s.holder != id && s.had&bit != 0, s })
			case a.f == history.Release && a.outcome == history.OK:
				add("gone "+h.id, a.sent(), a.done, func(s lockState) (bool, lockState) { ok, t := free(s); return ok && s.had&bit != 0, t })
			}
		}
		if at := o.first(func(e *history.Event) bool {
			return e.F == history.Renew && e.Op == 0 && e.Type == history.Fail && e.Hold == h.id
		}); at != 0 {
			add("said to be gone "+h.id, h.start(), at, func(s lockState) (bool, lockState) { ok, t := free(s); return ok && s.had&bit != 0, t })
		}
	}
	for session, bits := range sessions {
		at := o.first(func(e *history.Event) bool {
			return e.F == history.Renew && e.Op == 0 && e.Type == history.Fail && e.Hold == "" && e.Session == session
		})
		if at == 0 {
			continue
		}
		add("session over "+session, 0, at, func(s lockState) (bool, lockState) {
			s.dead |= bits
			if s.holder != 0 && bits&(1<<(s.holder-1)) != 0 {
				s.holder = 0
			}
			return true, s
		})
	}
	return ops
}

// wholeHold is what one hold did to the register, in the resource's order.
type wholeHold struct{ accesses []accessFact }

var valueSeed = maphash.MakeSeed()

var plainRegister = porcupine.Model{
	Init: func() any { return "" },
	Step: func(state, input, _ any) (bool, any) {
		value := state.(string)
		for _, a := range input.(wholeHold).accesses {
			if a.f == history.Write {
				value = a.value
			} else if a.value != value {
				return false, state
			}
		}
		return true, value
	},
	Hash: func(state any) uint64 { return maphash.String(valueSeed, state.(string)) },
}

// registerExplained is J7.
func (o *oracle) registerExplained() search.Answer {
	byKey := map[string][]porcupine.Operation{}
	for n, h := range o.holds {
		var did []accessFact
		from, to := int64(math.MaxInt64), int64(0)
		for _, a := range h.accesses {
			if a.log == 0 || a.f == history.Read && a.outcome != history.OK {
				continue
			}
			did = append(did, a)
			from = min(from, a.invoke)
			if a.outcome == history.OK || a.outcome == history.Fail {
				to = max(to, a.done)
			} else {
				to = math.MaxInt64
			}
		}
		if len(did) > 0 {
			slices.SortFunc(did, func(a, b accessFact) int { return cmp.Compare(a.log, b.log) })
			byKey[h.key] = append(byKey[h.key], porcupine.Operation{ClientId: n, Input: wholeHold{did}, Call: from, Return: to})
		}
	}
	return o.explains(plainRegister, byKey)
}
