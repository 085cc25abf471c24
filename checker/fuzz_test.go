package checker

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"lockcheck/checker/explain"
	"lockcheck/checker/history"
	"lockcheck/checker/model"
	"lockcheck/checker/property"
	"lockcheck/checker/testkit"
)

// fuzzedPlans are what a fuzzed recording may be judged by; its first byte says which.
func fuzzedPlans() []history.Plan {
	tries, foreign, session := untokened(), plainPlan(), plainPlan()
	tries.TryAtomic = true
	foreign.SameKernel = false
	session.DriftMS, session.Keys = 100, 1
	return []history.Plan{plainPlan(), fencedPlan(), untokened(), tries, foreign, session, casPlan(), jobsPlan(history.AtMostOnce), jobsPlan(history.Idempotent)}
}

// betweenFiles separates history.jsonl from resource.jsonl in what is fuzzed.
const betweenFiles = "\n--\n"

// fuzzable spells a recording so that fuzzing can begin with it.
func fuzzable(plan byte, events []history.Event, requests []history.Request) []byte {
	w := explain.Witness{Events: events}
	log := explain.Witness{Requests: requests}
	return slices.Concat([]byte{plan}, spelt(&w), []byte(betweenFiles[1:]), spelt(&log))
}

func spelt(w *explain.Witness) (text []byte) {
	for i := range w.Events {
		text = append(history.AppendEvent(text, &w.Events[i]), '\n')
	}
	for i := range w.Requests {
		text = append(history.AppendRequest(text, &w.Requests[i]), '\n')
	}
	return text
}

// FuzzCheck: judging the files of a run neither panics nor takes the machine's memory, with any content, and the exact
// algorithms and Porcupine agree. That a recording contradicts itself is an answer, too.
func FuzzCheck(f *testing.F) {
	t := &testing.T{}
	for i, text := range []string{
		strings.Replace(strings.Replace(classic, "%s", "", 1), "write:%s", "write:ok h1", 1),
		strings.Replace(strings.Replace(classic, "%s", "rejected mark=34", 1), "write:%s", "write:fail h1 code=rejected", 1),
		"1 a acquire h1\n1 b acquire h2 try=true\n2 b acquire:fail h2 code=busy\n2 a acquire:info h1\n2 a lost h1\n3 a exit h1",
	} {
		events, requests := parse(t, text)
		f.Add(fuzzable(byte(i), events, requests))
	}
	for seed := range uint64(12) {
		for i, s := range seconds {
			h := testkit.RandomHistory(seed, s.taste)
			f.Add(fuzzable(byte(i), h.Events, h.Requests))
		}
	}
	plans := fuzzedPlans()
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) == 0 {
			return
		}
		plan := plans[int(text[0])%len(plans)]
		events, requests, _ := bytes.Cut(text[1:], []byte(betweenFiles))
		events = append(events, '\n')
		open := func() model.Recording {
			return model.Recording{Plan: plan, Events: history.Events(bytes.NewReader(events), "h"), Requests: history.Requests(bytes.NewReader(requests), "r")}
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for _, failedAs := range []history.Type{history.Fail, history.Info} {
			result, _, err := Check(open(), Options{FailedAs: failedAs})
			switch {
			case errors.Is(err, property.ErrDisagreement):
				t.Fatal(err)
			case errors.Is(err, history.ErrMalformed), errors.Is(err, model.ErrDefect), errors.Is(err, model.ErrCut):
				continue
			case err != nil:
				t.Fatalf("an error of no kind: %v", err)
			}
			if len(result.Properties) != len(NamesFor(&plan)) {
				t.Fatalf("%d properties", len(result.Properties))
			}
		}
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > 1<<30 {
			t.Fatalf("%d MB for %d bytes", used>>20, len(text))
		}
	})
}

// choices is randomness that a fuzzer can choose, a byte a number; once they are used up it goes on by itself.
type choices struct {
	bytes []byte
	rest  *rand.PCG
}

func (c *choices) Uint64() uint64 {
	if len(c.bytes) == 0 {
		return c.rest.Uint64()
	}
	b := uint64(c.bytes[0])
	c.bytes = c.bytes[1:]
	return b * 0x0101010101010101
}

// FuzzSecondOpinions: histories that a right reader would never refuse, however the fuzzer chooses what happens in them,
// come to the same as in the oracle's opinion, and never to a defect. The oracle gives up on some: orders of optional
// operations are exponentially many, a fuzzer finds histories of ten operations for which Porcupine takes minutes, and one
// that takes ten seconds ends the fuzzing.
func FuzzSecondOpinions(f *testing.F) {
	for i := range seconds {
		f.Add(byte(i), []byte{})
		f.Add(byte(i), []byte("the quick brown fox jumps over the lazy dog"))
		f.Add(byte(i), bytes.Repeat([]byte{0, 0x80, 0xff, 0x40}, 30))
	}
	f.Fuzz(func(t *testing.T, which byte, chosen []byte) {
		s := seconds[int(which)%len(seconds)]
		const steps = 300_000
		if _, err := s.judge(testkit.HistoryFrom(&choices{chosen, rand.NewPCG(1, 2)}, s.taste), steps); err != nil && !errors.Is(err, errNoOpinion) {
			t.Fatal(err)
		}
	})
}

// FuzzWitnesses: in such histories every finding has its witness, and that comes to the same.
func FuzzWitnesses(f *testing.F) {
	for i := range seconds {
		f.Add(byte(i), []byte{})
		f.Add(byte(i), bytes.Repeat([]byte{0, 0x80, 0xff, 0x40}, 30))
	}
	f.Fuzz(func(t *testing.T, which byte, chosen []byte) {
		h := testkit.HistoryFrom(&choices{chosen, rand.NewPCG(1, 2)}, seconds[int(which)%len(seconds)].taste)
		if err := witnessedAll(h); err != nil {
			t.Fatal(err)
		}
	})
}
