package compare

import (
	"encoding/xml"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"lockcheck/reports/words"
)

// JUnit's XML has no schema of its own; these are the elements, attributes and their order on which the usual readers
// agree (Jenkins, GitLab, GitHub actions that publish test results).
type junitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Name     string       `xml:"name,attr"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Errors   int          `xml:"errors,attr"`
	Time     string       `xml:"time,attr"`
	Suites   []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name       string          `xml:"name,attr"`
	Tests      int             `xml:"tests,attr"`
	Failures   int             `xml:"failures,attr"`
	Errors     int             `xml:"errors,attr"`
	Skipped    int             `xml:"skipped,attr"`
	Time       string          `xml:"time,attr"`
	Timestamp  string          `xml:"timestamp,attr"`
	Hostname   string          `xml:"hostname,attr"`
	Properties []junitProperty `xml:"properties>property"`
	Cases      []junitCase     `xml:"testcase"`
}

type junitProperty struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

type junitCase struct {
	Name      string      `xml:"name,attr"`
	Classname string      `xml:"classname,attr"`
	Time      string      `xml:"time,attr"`
	File      string      `xml:"file,attr,omitempty"`
	Line      int         `xml:"line,attr,omitempty"`
	Error     *junitFault `xml:"error,omitempty"`
	Failure   *junitFault `xml:"failure,omitempty"`
	SystemOut string      `xml:"system-out,omitempty"`
}

type junitFault struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
	Text    string `xml:",chardata"`
}

// JUnit writes the comparison as JUnit XML, a suite a backend and a case a cell. An expected violation that was seen has
// passed, its story in system-out; what is missing or unexpected is a failure, and what no run could tell an error.
func JUnit(w io.Writer, c *Comparison) error {
	all := junitSuites{Name: "lockcheck compare", Time: seconds(c.DurationNS)}
	for _, cell := range c.Cells {
		if n := len(all.Suites); n == 0 || all.Suites[n-1].Name != clean(cell.Backend) {
			all.Suites = append(all.Suites, junitSuite{
				Name: clean(cell.Backend), Timestamp: c.StartedAt.UTC().Format("2006-01-02T15:04:05"), Hostname: "localhost",
				Properties: []junitProperty{{"lockcheck", clean(c.Lockcheck)}, {"seed", strconv.FormatInt(c.Seed, 10)}},
			})
		}
		suite := &all.Suites[len(all.Suites)-1]
		test := newCase(cell)
		suite.Cases = append(suite.Cases, test)
		suite.Tests, all.Tests = suite.Tests+1, all.Tests+1
		if test.Failure != nil {
			suite.Failures, all.Failures = suite.Failures+1, all.Failures+1
		}
		if test.Error != nil {
			suite.Errors, all.Errors = suite.Errors+1, all.Errors+1
		}
	}
	for i := range all.Suites {
		var total int64
		for _, cell := range c.Cells {
			if clean(cell.Backend) == all.Suites[i].Name {
				total += duration(cell)
			}
		}
		all.Suites[i].Time = seconds(total)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	encoder := xml.NewEncoder(w)
	encoder.Indent("", "  ")
	if err := encoder.Encode(all); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func newCase(r Result) junitCase {
	test := junitCase{Name: clean(r.Nemesis + " / " + r.Workload), Classname: "lockcheck." + strings.ReplaceAll(clean(r.Backend), ".", "_"),
		Time: seconds(duration(r)), SystemOut: output(r)}
	if e := r.Expectation; e != nil {
		test.File, test.Line = clean(e.File), e.Line
	}
	why := strings.Join(r.Why(), "; ")
	fault := &junitFault{Message: clean(words.Clip(why, maxText)), Type: string(r.Outcome), Text: faultText(r)}
	switch r.Outcome {
	case Met:
	case Unmet:
		test.Failure = fault
		for _, p := range r.Problems {
			if p.Kind != Unknown {
				fault.Type, test.File, test.Line = string(p.Kind), clean(p.File), p.Line
				break
			}
		}
	default:
		test.Error = fault
	}
	return test
}

func faultText(r Result) string {
	var lines []string
	for _, p := range r.Problems {
		lines = append(lines, clean(string(p.Kind)+": "+p.Text+at(p)))
	}
	for _, why := range r.Why()[len(r.Problems):] {
		lines = append(lines, clean(why))
	}
	return strings.Join(lines, "\n")
}

// output is what a reader of a passed test may want to know, too.
func output(r Result) string {
	var lines []string
	if e := r.Expectation; e != nil {
		lines = append(lines, "expected: "+clean(e.Words()), "because: "+clean(e.Reason))
	}
	if r.Made > 0 {
		w := newRow(r)
		lines = append(lines, "found: "+w.Found, "violated runs: "+w.Runs, "exposure: "+w.Exposure)
	}
	if run, ok := r.representative(); ok && run.Error == "" {
		lines = append(lines, clean(run.Sentence))
		for _, line := range run.Story {
			lines = append(lines, "  "+clean(line))
		}
		lines = append(lines, "reproduce: "+clean(words.ShellWords(run.Command)), "report: "+clean(run.Report))
	}
	return strings.Join(lines, "\n")
}

// clean is one line without what XML cannot hold.
func clean(text string) string { return words.Plain(text) }

func duration(r Result) (ns int64) {
	for _, run := range r.Runs {
		ns += run.DurationNS
	}
	return ns
}

func seconds(ns int64) string { return fmt.Sprintf("%.3f", time.Duration(ns).Seconds()) }
