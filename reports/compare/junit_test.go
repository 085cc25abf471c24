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

// fits holds a document against the schema; the error says what is wrong with it. Without xmllint the test is skipped, in CI
// it fails.
func fits(t *testing.T, document string) error {
	t.Helper()
	xmllint, err := exec.LookPath("xmllint")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skipf("%v; on Debian: apt-get install libxml2-utils", err)
	}
	cmd := exec.Command(xmllint, "--noout", "--nonet", "--schema", "testdata/junit.xsd", "-")
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
	if err := JUnit(&out, c); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestJUnitFitsTheCommonSchema(t *testing.T) {
	text := junitOf(t, sample())
	if err := fits(t, text); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	empty := &Comparison{}
	empty.Finish()
	if err := fits(t, junitOf(t, empty)); err != nil {
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
		if err := fits(t, wrong); err == nil {
			t.Errorf("the schema allows %s", name)
		}
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
	if c := cases[1]; c.Failure == nil || c.Failure.Type != "missing" || c.Line != 11 || !strings.Contains(c.Failure.Text, "lockcheck.yaml:12") {
		t.Errorf("one that did not come: %+v", c)
	}
	if c := cases[2]; c.Failure == nil || c.Failure.Type != "unexpected" || c.Line != 10 {
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
