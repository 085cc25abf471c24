package models

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"lockcheck/checker/foreign/jepsen"
	"lockcheck/checker/history"
)

// event is an invocation or a completion of an operation of one of several histories.
type event struct {
	of   int // which of the histories
	op   jepsen.Operation
	back bool
}

// shuffled are the events of several histories in one order that keeps each history's own.
func shuffled(r *rand.Rand, each [][]jepsen.Operation) (all []event) {
	queues := make([][]event, len(each))
	left := 0
	for i, ops := range each {
		places := map[int64]event{}
		for _, o := range ops {
			places[o.Call] = event{i, o, false}
			if o.EndLine != 0 {
				places[int64(o.EndLine)] = event{i, o, true}
			}
		}
		for at := int64(1); len(queues[i]) < len(places); at++ {
			if e, there := places[at]; there {
				queues[i] = append(queues[i], e)
			}
		}
		left += len(queues[i])
	}
	for ; left > 0; left-- {
		i := r.IntN(len(queues))
		for len(queues[i]) == 0 {
			i = (i + 1) % len(queues)
		}
		all = append(all, queues[i][0])
		queues[i] = queues[i][1:]
	}
	return all
}

// printed is a file of several keys, as Jepsen prints it or with the types of its tuples.
func printed(r *rand.Rand, events []event, keys []string) string {
	tuple := func(key string, v jepsen.Value) string {
		tag := ""
		if r.IntN(6) == 0 {
			tag = []string{"#jepsen.independent.Tuple", "#clojure.lang.MapEntry "}[r.IntN(2)]
		}
		return fmt.Sprintf("%s[%s %s]", tag, key, v)
	}
	var file strings.Builder
	for _, e := range events {
		kind, value := history.Invoke, tuple(keys[e.of], e.op.Input)
		if e.back {
			kind = e.op.Outcome
			output := e.op.Output
			if e.op.F != "read" && output.IsNil() {
				output = e.op.Input
			}
			value = tuple(keys[e.of], output)
			if kind == history.Info && r.IntN(2) == 0 {
				value = ":timed-out"
			}
		}
		fmt.Fprintf(&file, "{:process \"%d-%s\", :type :%s, :f :%s, :value %s}\n", e.of, e.op.Process, kind, e.op.F, value)
	}
	return file.String()
}

// Files of several keys come apart into the histories that they were made of, and each is judged as the oracle judges that
// one alone.
func TestKeysAgreeWithTheOracle(t *testing.T) {
	n := histories(t) / 2
	for _, m := range All() {
		t.Run(m.Name, func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(uint64(len(m.Name)), 17))
			seen, files := map[Answer]int{}, 0
			for files = 0; seen[Legal]+seen[Illegal] < n; files++ {
				keys := []string{"1", "1.0", `"1"`, "[1 nil]", ":k"}[:1+r.IntN(5)]
				each := make([][]jepsen.Operation, len(keys))
				for i := range each {
					each[i] = random(r, m.Name, files%4 == 0, "nil")
				}
				file := printed(r, shuffled(r, each), keys)
				h, err := jepsen.Read(strings.NewReader(file), "h")
				if err != nil {
					t.Fatalf("%v\n%s", err, file)
				}
				if !asked(m, each) {
					continue
				}
				parts, err := Split(m, h.Operations)
				if err != nil {
					t.Fatalf("file %d: %v\n%s", files, err, file)
				}
				unexposed := *m
				unexposed.exposed = func([]op) string { return "" }
				results, err := CheckEach(&unexposed, parts, DefaultSteps)
				if err != nil {
					t.Fatalf("file %d: %v\n%s", files, err, file)
				}
				for i, p := range parts {
					from := slices.Index(keys, p.Key.String())
					if from < 0 || !p.Keyed {
						t.Fatalf("file %d: a part of the key %s\n%s", files, p.Key, file)
					}
					want := Legal
					if !oracle(m.Name, each[from]) {
						want = Illegal
					}
					if seen[want]++; results[i].Answer != want || len(p.Operations) != len(each[from]) {
						t.Fatalf("file %d, key %s: %s of %d operations (%s), want %s of\n%s\nin\n%s", files, p.Key, results[i].Answer, len(p.Operations), results[i].Reason, want, spell(each[from]), file)
					}
					for _, o := range results[i].Counterexample {
						if line := strings.Split(file, "\n")[o.Line-1]; !strings.Contains(line, "["+keys[from]+" ") {
							t.Fatalf("file %d: a counterexample of the key %s from %s", files, p.Key, line)
						}
					}
				}
			}
			t.Logf("%d files: %v", files, seen)
			if min(seen[Legal], seen[Illegal]) < n/10 {
				t.Errorf("one-sided: %v", seen)
			}
		})
	}
}

// asked reports whether a file shows that it has keys: some lock was asked for, or some register read.
func asked(m *Model, each [][]jepsen.Operation) bool {
	return slices.ContainsFunc(each, func(ops []jepsen.Operation) bool {
		return slices.ContainsFunc(ops, func(o jepsen.Operation) bool { return m.initial == "" || o.F == "read" })
	})
}
