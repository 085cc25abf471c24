package hunts

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"lockcheck/reports/junit"
	"lockcheck/reports/words"
)

// JUnit writes a hunt as JUnit XML, one suite: a case for the hunt as a whole, which is an error if it was interrupted or no run taught anything,
// and a case for each find. One that fails the hunt is a failure, any other has passed; system-out has the reason of a known one.
func JUnit(w io.Writer, r Record) error {
	class := "lockcheck." + strings.ReplaceAll(junit.Clean(r.Backend), ".", "_")
	whole := junit.Case{Name: "hunt", Classname: class, MS: r.SpentNS / 1e6, SystemOut: junit.Clean(r.Sentence())}
	switch {
	case r.Interrupted:
		whole.Error = &junit.Fault{Message: "the hunt was interrupted, or is still running", Type: "inconclusive", Text: whole.SystemOut}
	case !r.Tested():
		whole.Error = &junit.Fault{Message: "no run taught anything", Type: "inconclusive", Text: junit.Clean(lastBarren(r))}
	}
	cases := []junit.Case{whole}
	for _, f := range r.Finds {
		cases = append(cases, caseOf(class, f, r.Fails(f)))
	}
	return junit.Write(w, junit.Suites{Name: "lockcheck hunt", Suites: []junit.Suite{{
		Name: junit.Clean(r.Backend), Timestamp: r.StartedAt.UTC().Format("2006-01-02T15:04:05"), Hostname: "localhost", Cases: cases,
		Properties: []junit.Property{{Name: "lockcheck", Value: junit.Clean(r.Lockcheck)}, {Name: "seed", Value: fmt.Sprint(r.Seed)}, {Name: "client", Value: junit.Clean(r.Client)}},
	}}})
}

func caseOf(class string, f Find, fails bool) junit.Case {
	kind := "new"
	lines := []string{f.Summary, fmt.Sprintf("run %d, --nemesis=%s", f.Run, words.ShellWords([]string{f.Nemesis})), "report: " + f.Report, "shrink: " + words.ShellWords(f.Shrink)}
	if f.Known != "" {
		kind = "known"
		lines = append([]string{"known: " + f.Known + " (" + f.KnownAt + ")"}, lines...)
	}
	for i := range lines {
		lines[i] = junit.Clean(lines[i])
	}
	c := junit.Case{Name: junit.Clean(f.Signature), Classname: class, SystemOut: strings.Join(lines, "\n")}
	if fails {
		c.Failure = &junit.Fault{Message: junit.Clean(f.Summary), Type: kind, Text: c.SystemOut}
	}
	return c
}

// lastBarren is why the last run that taught nothing did not.
func lastBarren(r Record) string {
	for _, run := range slices.Backward(r.Runs) {
		if run.Barren != "" {
			return run.Barren
		}
	}
	return "no run ended"
}
