package compare

import (
	"bytes"
	"encoding/xml"
	"strings"
	"testing"

	"lockcheck/checker/model"
	"lockcheck/reports/junit"
)

// stale is a run as the classic shows it, with all that a run keeps of it.
func stale() Run {
	run := came(model.Violation, verdicts{model.MutualExclusion: model.Violation, model.StaleWrite: model.Violation, model.LostUpdate: model.Violation})
	run.Sentence = "UNSAFE: etcd under pause: 4 incidents: 4 stale writes accepted, first at 12.431 s"
	run.Story = []string{"c2 wrote after c3 was granted the lock", "1.000 s  c2 acquired", "cause: c2 was paused for 3 s"}
	for i := range run.Properties {
		run.Properties[i].Why = "the first of " + string(run.Properties[i].Name)
	}
	return run
}

// gate is a comparison of one cell.
func gate(expect *Expectation, runs ...Run) *Comparison {
	cell := Cell{Backend: "etcd", Nemesis: "pause", Workload: "lock"}
	c := &Comparison{File: "lockcheck.yaml", Expecting: expect != nil, Shard: Whole, Matrix: []Cell{cell}, Cells: []Result{NewResult(cell, expect, runs, len(runs))}}
	c.Finish()
	return c
}

// A reader who sees only a log, an annotation or a test's failure learns what happened before what was expected.
func TestARedCellSaysWhatHappenedFirst(t *testing.T) {
	c := gate(expecting(), stale())
	story := []string{stale().Sentence, "first finding: c2 wrote after c3 was granted the lock", "cause: c2 was paused for 3 s",
		"unexpected: mutual-exclusion, stale-write and lost-update are violated in the run and not listed as expected (lockcheck.yaml:10)"}
	var log, annotations bytes.Buffer
	if err := Summary(&log, c, Shown{Dir: "x"}); err != nil {
		t.Fatal(err)
	}
	if err := Annotations(&annotations, c, ""); err != nil {
		t.Fatal(err)
	}
	var suites junit.Suites
	if err := xml.Unmarshal([]byte(junitOf(t, c)), &suites); err != nil {
		t.Fatal(err)
	}
	failure := suites.Suites[0].Cases[0].Failure
	for where, text := range map[string]string{"log": log.String(), "annotation": annotations.String(), "failure's message": failure.Message, "failure's text": failure.Text} {
		from := 0
		for _, want := range story {
			at := strings.Index(text[from:], want)
			if at < 0 {
				t.Fatalf("the %s lacks, in its place, %q:\n%s", where, want, text)
			}
			from += at + len(want)
		}
	}
	for _, line := range story {
		if !strings.Contains(Markdown(c, MaxSummary), inline(line)) {
			t.Errorf("the summary lacks %q", line)
		}
	}
	if got := strings.Count(annotations.String(), "::error "); got != 1 {
		t.Errorf("%d annotations for one cell", got)
	}
	if next := c.Next(); !strings.Contains(next, "`expect:` in lockcheck.yaml") || !strings.Contains(next, "fencing") || strings.Count(log.String(), "\n"+next+"\n") != 1 {
		t.Errorf("what to do is %q in\n%s", next, &log)
	}
}

// The finding that is told is one that the cell is red for, and a cause is said only with the finding that it is of.
func TestTheFindingIsOneThatWasNotExpected(t *testing.T) {
	listed := expecting(wanted(11, model.StaleWrite, model.Violation), wanted(12, model.LostUpdate, model.Violation))
	text := strings.Join(newAccount(gate(listed, calm(), stale()).Cells[0]).lines(), "\n")
	want := stale().Sentence + "\nfirst finding of mutual-exclusion: the first of mutual-exclusion\n" +
		"unexpected: mutual-exclusion is violated in 1 of 2 runs and not listed as expected (lockcheck.yaml:10)"
	if text != want {
		t.Errorf("it says\n%s\nwant\n%s", text, want)
	}
}

func TestAccountsOfOtherCells(t *testing.T) {
	for name, test := range map[string]struct {
		c          *Comparison
		want, next string
	}{
		"nothing was expected": {gate(nil, stale()), stale().Sentence + "\nfirst finding: c2 wrote after c3 was granted the lock\ncause: c2 was paused for 3 s", "prevent it"},
		"it did not come": {gate(expecting(wanted(11, model.StaleWrite, model.Violation)), calm()),
			"S\nmissing: stale-write: expected violation did not come in 1 run that could tell; it was pass (lockcheck.yaml:11)", "did not come"},
		"no run was made": {gate(expecting(), failed(69)), "a run with seed 0 could not be made (exit 69): no such server", ""},
		"nothing to do":   {gate(expecting(), unexposed()), "S\nunknown: 1 run is inconclusive: no pause outlived a lease (lockcheck.yaml:10)", ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := strings.Join(newAccount(test.c.Cells[0]).lines(), "\n"); got != test.want {
				t.Errorf("it says\n%s\nwant\n%s", got, test.want)
			}
			if next := test.c.Next(); !strings.Contains(next, test.next) || (next == "") != (test.next == "") {
				t.Errorf("what to do is %q, want %q", next, test.next)
			}
		})
	}
}

// However much a run says, what was expected is not cut off.
func TestAnAccountIsBoundedInEachHalf(t *testing.T) {
	long := stale()
	long.Story[0] = strings.Repeat("much ", 200)
	message := newAccount(gate(expecting(), long).Cells[0]).message()
	if len([]rune(message)) > maxMessage || !strings.HasSuffix(message, "(lockcheck.yaml:10)") {
		t.Errorf("%d characters: %s", len([]rune(message)), message)
	}
}

// A cell that could not be run fails the job, and is annotated as what does.
func TestWhatCouldNotBeRunIsAnError(t *testing.T) {
	var out bytes.Buffer
	if err := Annotations(&out, gate(expecting(), failed(69)), ""); err != nil || !strings.HasPrefix(out.String(), "::error file=lockcheck.yaml,line=10,") {
		t.Errorf("%s (%v)", &out, err)
	}
}
