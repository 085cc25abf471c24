package model

import (
	"math/rand/v2"
	"slices"
	"testing"

	"lockcheck/checker/history"
	"lockcheck/checker/longrun"
)

// What is not kept of the resource's log is made again, word for word.
func TestTheLogIsKeptWholeInLittle(t *testing.T) {
	for name, c := range map[string]struct {
		longrun.Options
		odd int // at most so many lines are kept as they are
	}{
		"clean":   {longrun.Options{Operations: 4000}, 0},
		"harmful": {longrun.Options{Operations: 4000, Illegal: 0.05, Unknown: 0.05}, 400},
	} {
		m, _, err := Build(Recording{Plan: c.Plan(), Events: c.Events(), Requests: c.Requests()}, "")
		if err != nil {
			t.Fatal(err)
		}
		i := 0
		for want := range c.Requests() {
			if got := m.Requests.At(i); got != want {
				t.Fatalf("%s: %+v was read, %+v is told", name, want, got)
			}
			i++
		}
		if i != m.Requests.Len() || len(m.Requests.odd) > c.odd {
			t.Errorf("%s: %d of %d lines, %d of them kept as they are", name, m.Requests.Len(), i, len(m.Requests.odd))
		}
	}
}

func TestALineThatSaysMoreThanItsAccessIsKept(t *testing.T) {
	h := &Hold{ID: "h", Key: "k", Token: "7"}
	sayings := results{}
	plain := history.Request{Seq: 1, Request: "3", Key: "k", Kind: history.KindWrite, Hold: "h", Token: "7", Value: "v", Base: "u",
		Outcome: history.Applied, Mark: "7", TimeNS: 5}
	for name, change := range map[string]func(*history.Request){
		"as its access":  func(*history.Request) {},
		"another token":  func(q *history.Request) { q.Token = "8" },
		"a higher mark":  func(q *history.Request) { q.Mark = "9" },
		"no mark":        func(q *history.Request) { q.Mark = "" },
		"rejected":       func(q *history.Request) { q.Outcome = history.Rejected },
		"a duplicate":    func(q *history.Request) { q.Outcome = history.Duplicate },
		"another number": func(q *history.Request) { q.Request = "03" },
	} {
		q := plain
		change(&q)
		a := &Access{opResult: sayings.of(history.Write, history.Info, ""), Hold: h, Op: 3, Value: "v", Base: "u"}
		if q.Outcome != history.Duplicate {
			a.Handled, a.HandledNS, a.Applied = 1, q.TimeNS, q.Outcome == history.Applied
		}
		var log RequestLog
		log.take(&q, a)
		if got := log.At(0); got != q {
			t.Errorf("%s: %+v was read, %+v is told", name, q, got)
		}
		if kept := len(log.odd) > 0; kept != (name != "as its access") {
			t.Errorf("%s: kept as it is: %v", name, kept)
		}
	}
}

func TestOperationsAreFoundWithAnyNumbers(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	for range 200 {
		var ops operations
		want := map[int64]*Hold{}
		last := int64(0)
		for range 1 + r.IntN(300) {
			last += 1 + r.Int64N([]int64{1, 3, 3000, 1 << 40}[r.IntN(4)])
			want[last] = &Hold{}
		}
		numbers := make([]int64, 0, len(want))
		for op := range want {
			numbers = append(numbers, op)
		}
		slices.Sort(numbers)
		if r.IntN(2) == 0 {
			r.Shuffle(len(numbers), func(i, j int) { numbers[i], numbers[j] = numbers[j], numbers[i] })
		}
		for _, op := range numbers {
			ops.put(op, operation{hold: want[op]})
		}
		for _, op := range numbers {
			if ops.get(op).hold != want[op] || ops.get(op+1).hold != want[op+1] {
				t.Fatalf("operation %d of %v is lost or mistaken", op, numbers)
			}
		}
		if ops.get(-1).hold != nil || ops.get(0).hold != nil {
			t.Fatal("there is an operation 0")
		}
	}
}

func TestSayingsAreNotMistaken(t *testing.T) {
	var s results
	words := []string{"", "a", "b", "ok", "fail", "info", "invoke", "guard", "x"}
	for range 2 {
		for _, f := range words {
			for _, outcome := range words {
				for _, code := range words {
					want := opResult{history.F(f), history.Type(outcome), code}
					if got := s.of(want.F, want.Outcome, want.Code); *got != want {
						t.Fatalf("%+v became %+v", want, *got)
					}
				}
			}
		}
	}
}
