package compare

import (
	"bytes"
	"encoding/xml"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// What the usual readers agree on, and what the one that validates accepts.
const (
	commonSchema = "testdata/junit.xsd"
	xunitSchema  = "testdata/xunit.xsd"
)

// fits holds a document against a schema; the error says what is wrong with it. Without xmllint the test is skipped, in CI
// it fails.
func fits(t *testing.T, schema, document string) error {
	t.Helper()
	xmllint, err := exec.LookPath("xmllint")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skipf("%v; on Debian: apt-get install libxml2-utils", err)
	}
	cmd := exec.Command(xmllint, "--noout", "--nonet", "--schema", schema, "-")
	cmd.Stdin = strings.NewReader(document)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return &invalid{string(out)}
	}
	return nil
}

type invalid struct{ text string }

func (e *invalid) Error() string { return e.text }

func junitOf(t *testing.T, c *Comparison) string {
	t.Helper()
	var out bytes.Buffer
	if err := JUnit(&out, c, Attachments{}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestJUnitFitsTheCommonSchema(t *testing.T) {
	text := junitOf(t, sample())
	if err := fits(t, commonSchema, text); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	empty := &Comparison{}
	empty.Finish()
	if err := fits(t, commonSchema, junitOf(t, empty)); err != nil {
		t.Errorf("no cell at all: %v", err)
	}
	// The schema can refuse.
	for name, change := range map[string][2]string{
		"an unknown attribute":     {`<testcase name=`, `<testcase colour="red" name=`},
		"a case without a name":    {`<testcase name=`, `<testcase title=`},
		"an element that is none":  {`<properties>`, `<property name="a" value="b"></property><properties>`},
		"a count that is none":     {` errors="`, ` errors="-`},
		"a time that is none":      {` time="`, ` time="about `},
		"a date with an offset":    {` timestamp="`, ` timestamp="+`},
		"a fault without its kind": {` type="missing"`, ``},
		"output before the fault":  {`<failure `, `<system-out>early</system-out><failure `},
		"a root that is none":      {`testsuites`, `tests`},
	} {
		wrong := strings.Replace(text, change[0], change[1], 1)
		if name == "a root that is none" {
			wrong = strings.ReplaceAll(text, change[0], change[1])
		}
		if wrong == text {
			t.Errorf("%s: there is no %s", name, change[0])
		}
		if err := fits(t, commonSchema, wrong); err == nil {
			t.Errorf("the schema allows %s", name)
		}
	}
}

// Jenkins' xUnit plugin validates before it reads, and takes nothing of a file that it refuses.
func TestJUnitFitsTheSchemaOfJenkinsXUnit(t *testing.T) {
	text := junitOf(t, sample())
	if err := fits(t, xunitSchema, text); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	empty := &Comparison{}
	empty.Finish()
	if err := fits(t, xunitSchema, junitOf(t, empty)); err != nil {
		t.Errorf("no cell at all: %v", err)
	}
	for name, change := range map[string][2]string{
		"a case's file":               {`<testcase name=`, `<testcase file="lockcheck.yaml" name=`},
		"a case's line":               {`<testcase name=`, `<testcase line="1" name=`},
		"a case's assertions":         {`<testcase name=`, `<testcase assertions="1" name=`},
		"disabled cases":              {`<testsuites name=`, `<testsuites disabled="0" name=`},
		"a suite without its count":   {` tests="3"`, ``},
		"a time with more decimals":   {` time="4.000"`, ` time="4.0000"`},
		"a property without a value":  {` value=`, ` content=`},
		"properties of a case":        {`<system-out>`, `<properties></properties><system-out>`},
		"an element that is none":     {`<failure `, `<unexpected></unexpected><failure `},
		"cases outside of any suite":  {`<testsuite `, `<testcase name="a"></testcase><testsuite `},
		"a suite that says no errors": {` failures="2" errors="0" skipped`, ` failures="2" skipped`},
	} {
		wrong := strings.Replace(text, change[0], change[1], 1)
		if wrong == text {
			t.Errorf("%s: there is no %s in\n%s", name, change[0], text)
		}
		if err := fits(t, xunitSchema, wrong); err == nil {
			t.Errorf("the schema allows %s", name)
		}
	}
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
	var suites junitSuites
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
	var suites junitSuites
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
