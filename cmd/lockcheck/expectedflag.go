package main

import (
	"encoding/json"
	"fmt"

	"lockcheck/checker/history"
	"lockcheck/reports/compare"
)

// expectedFlag is how a comparison passes to the runs that it makes what is expected of them, so that their reports can say it.
const expectedFlag = "expected"

// expectedOf reads what expectedWords wrote; "" is nothing expected.
func expectedOf(words string) (*history.Expected, error) {
	if words == "" {
		return nil, nil
	}
	var expected history.Expected
	if err := json.Unmarshal([]byte(words), &expected); err != nil {
		return nil, fmt.Errorf("--%s: %w", expectedFlag, err)
	}
	return &expected, nil
}

func expectedWords(e *compare.Expectation) (string, error) {
	words, err := json.Marshal(expectedFrom(e))
	return string(words), err
}

// expectedFrom is an expectation as the plan of a run holds it; nil for none.
func expectedFrom(e *compare.Expectation) *history.Expected {
	if e == nil {
		return nil
	}
	expected := &history.Expected{Reason: e.Reason, Verdicts: map[string][]string{}}
	if expected.From = e.File; e.File != "" && e.Line > 0 {
		expected.From = fmt.Sprintf("%s:%d", e.File, e.Line)
	}
	for _, w := range e.Expect {
		if w.Rate != nil { // no single run tells whether a rate is met
			w.Verdicts = compare.Expectable
		}
		for _, v := range w.Verdicts {
			expected.Verdicts[string(w.Property)] = append(expected.Verdicts[string(w.Property)], string(v))
		}
	}
	return expected
}
