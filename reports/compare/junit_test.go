package compare

import (
	"bytes"
	"encoding/xml"
	"strconv"
	"strings"
	"testing"

	"lockcheck/reports/junit"
)

func junitOf(t *testing.T, c *Comparison) string {
	t.Helper()
	var out bytes.Buffer
	if err := JUnit(&out, c, Attachments{}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// Readers show the times of suites and of all beside those of cases: each is the sum of what it holds, to the last digit.
func TestJUnitTimesAddUp(t *testing.T) {
	c := sample()
	c.DurationNS = 12 // cells ran side by side
	for i := range c.Cells {
		for n := range c.Cells[i].Runs {
			c.Cells[i].Runs[n].DurationNS = 1_000_499_999 // which rounds down by itself, and up in a sum
		}
	}
	var suites junit.Suites
	if err := xml.Unmarshal([]byte(junitOf(t, c)), &suites); err != nil {
		t.Fatal(err)
	}
	thousandths := func(text string) (n int) {
		whole, fraction, _ := strings.Cut(text, ".")
		n, err := strconv.Atoi(whole + fraction)
		if err != nil || len(fraction) != 3 {
			t.Errorf("the time %q has no three decimals (%v)", text, err)
		}
		return n
	}
	all := 0
	for _, suite := range suites.Suites {
		sum := 0
		for _, c := range suite.Cases {
			sum += thousandths(c.Time)
		}
		if got := thousandths(suite.Time); got != sum {
			t.Errorf("the suite %q took %d ms, its cases %d", suite.Name, got, sum)
		}
		all += sum
	}
	if got := thousandths(suites.Time); got != all || all == 0 {
		t.Errorf("all took %d ms, the suites %d", got, all)
	}
}

// An expected violation that was seen has passed; what is missing or unexpected is a failure, what is unknown an error.
func TestJUnitSaysWhatBecameOfEachCell(t *testing.T) {
	var suites junit.Suites
	if err := xml.Unmarshal([]byte(junitOf(t, sample())), &suites); err != nil {
		t.Fatal(err)
	}
	if suites.Tests != 6 || suites.Failures != 2 || suites.Errors != 3 || len(suites.Suites) != 3 {
		t.Errorf("%d tests, %d failures, %d errors in %d suites; want 6, 2, 3 in 3", suites.Tests, suites.Failures, suites.Errors, len(suites.Suites))
	}
	cases := suites.Suites[0].Cases
	if c := cases[0]; c.Failure != nil || c.Error != nil || !strings.Contains(c.SystemOut, "alert(1)") {
		t.Errorf("an expected violation that was seen: %+v", c)
	}
	if c := cases[1]; c.Failure == nil || c.Failure.Type != "missing" || !strings.Contains(c.SystemOut, "(lockcheck.yaml:10)") || !strings.Contains(c.Failure.Text, "lockcheck.yaml:12") {
		t.Errorf("one that did not come: %+v", c)
	}
	if c := cases[2]; c.Failure == nil || c.Failure.Type != "unexpected" || !strings.Contains(c.Failure.Text, "(lockcheck.yaml:10)") {
		t.Errorf("one that was not expected: %+v", c)
	}
	for _, suite := range suites.Suites[1:] {
		for _, c := range suite.Cases {
			if c.Error == nil || c.Error.Message == "" {
				t.Errorf("an unknown is no error: %+v", c)
			}
		}
	}
	if seconds, err := strconv.ParseFloat(suites.Suites[0].Time, 64); err != nil || seconds != 4 {
		t.Errorf("the suite took %q, want 4 runs of 1 s", suites.Suites[0].Time)
	}
}
