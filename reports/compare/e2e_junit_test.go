//go:build e2e

package compare

import (
	"os"
	"os/exec"
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
