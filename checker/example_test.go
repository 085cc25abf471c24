package checker_test

import (
	"fmt"
	"iter"

	"lockcheck/checker"
	"lockcheck/checker/history"
	"lockcheck/checker/model"
)

// A history from elsewhere: two clients took one lock in turn, and a resource behind it took their writes. Both the
// clients' events and the resource's log may come from wherever they are kept, a line at a time.
func Example() {
	second := func(s float64) int64 { return int64(s * 1e9) }
	events := []history.Event{
		{TimeNS: second(1.0), Process: "a", Client: "a", Type: history.Invoke, F: history.Acquire, Op: 1, Key: "orders", Hold: "a1"},
		{TimeNS: second(1.1), Process: "a", Client: "a", Type: history.OK, F: history.Acquire, Op: 1, Hold: "a1", Token: "33"},
		{TimeNS: second(1.2), Process: "a", Client: "a", Type: history.Invoke, F: history.Write, Op: 2, Hold: "a1", Value: "from-a"},
		// a stands still; its lease runs out.
		{TimeNS: second(4.0), Process: "b", Client: "b", Type: history.Invoke, F: history.Acquire, Op: 3, Key: "orders", Hold: "b1"},
		{TimeNS: second(4.1), Process: "b", Client: "b", Type: history.OK, F: history.Acquire, Op: 3, Hold: "b1", Token: "34"},
		{TimeNS: second(4.2), Process: "b", Client: "b", Type: history.Invoke, F: history.Write, Op: 4, Hold: "b1", Value: "from-b"},
		{TimeNS: second(4.3), Process: "b", Client: "b", Type: history.OK, F: history.Write, Op: 4, Hold: "b1"},
		{TimeNS: second(5.0), Process: "a", Client: "a", Type: history.OK, F: history.Write, Op: 2, Hold: "a1"},
		{TimeNS: second(6.0), Process: history.HarnessProcess, Type: history.Info, F: history.Phase, Value: history.PhaseEnd},
	}
	for i := range events {
		events[i].Index = int64(i)
	}
	requests := []history.Request{ // in the order in which the resource handled them
		{Seq: 1, Request: "4", Key: "orders", Kind: history.KindWrite, Hold: "b1", Token: "34", Value: "from-b", Outcome: history.Applied, TimeNS: second(4.25)},
		{Seq: 2, Request: "2", Key: "orders", Kind: history.KindWrite, Hold: "a1", Token: "33", Value: "from-a", Outcome: history.Applied, TimeNS: second(4.9)},
	}

	result, _, err := checker.Check(model.Recording{
		Plan:     history.Plan{Version: history.FormatVersion, Tokens: history.TokensOrdered},
		Events:   each(events),
		Requests: each(requests),
	}, checker.Options{Properties: []model.Name{model.TokenMonotonicity, model.StaleWrite, model.LostUpdate}})
	if err != nil {
		fmt.Println(err) // what was recorded is no history, or contradicts itself
		return
	}
	fmt.Println("verdict:", result.Verdict)
	for _, p := range result.Properties {
		fmt.Printf("%s: %s\n", p.Name, p.Verdict)
		for _, f := range p.Findings {
			fmt.Println("  " + f.Summary)
			for _, line := range f.Story {
				fmt.Printf("    %.2f s  %s\n", float64(line.TimeNS)/1e9, line.Text)
			}
		}
	}

	// Output:
	// verdict: violation
	// token-monotonicity: pass
	// stale-write: violation
	//   a wrote orders with token 33 after the newer holder b with token 34 had used it: accepted
	//     1.10 s  a acquired orders with token 33
	//     4.10 s  b acquired orders with token 34
	//     4.25 s  b wrote from-b with token 34, built on the initial value: accepted
	//     4.90 s  a wrote from-a with token 33, built on the initial value: accepted
	// lost-update: violation
	//   the update from-b of b, which was acknowledged, is lost: a overwrote it with from-a, built on the initial value
	//     1.10 s  a acquired orders with token 33
	//     4.10 s  b acquired orders with token 34
	//     4.25 s  b wrote from-b with token 34, built on the initial value: accepted
	//     4.90 s  a wrote from-a with token 33, built on the initial value: accepted: b's update from-b is lost
}

// each passes records on one by one. An error would end the sequence, and Check with it.
func each[T any](records []T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for _, r := range records {
			if !yield(r, nil) {
				return
			}
		}
	}
}
