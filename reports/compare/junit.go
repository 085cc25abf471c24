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
// agree (Jenkins, GitLab, GitHub actions that publish test results). Jenkins' xUnit plugin refuses a whole file for one
// attribute that it does not know, such as a case's file and line.
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
// passed, its story in system-out; what is missing or unexpected is a failure, and what no run could tell an error. A suite
// took as long as its cases, and all as long as the suites, to the millisecond: cells that ran side by side took less.
func JUnit(w io.Writer, c *Comparison, from Attachments) error {
	all := junitSuites{Name: "lockcheck compare", Time: seconds(0)}
	var allMS, suiteMS int64
	for _, cell := range c.Cells {
		if n := len(all.Suites); n == 0 || all.Suites[n-1].Name != clean(cell.Backend) {
			all.Suites, suiteMS = append(all.Suites, newSuite(c, cell)), 0
		}
		suite := &all.Suites[len(all.Suites)-1]
		ms := milliseconds(cell)
		allMS, suiteMS = allMS+ms, suiteMS+ms
		test := newCase(cell, ms, from)
		suite.Cases = append(suite.Cases, test)
		suite.Time, all.Time = seconds(suiteMS), seconds(allMS)
		suite.Tests, all.Tests = suite.Tests+1, all.Tests+1
		if test.Failure != nil {
			suite.Failures, all.Failures = suite.Failures+1, all.Failures+1
		}
		if test.Error != nil {
			suite.Errors, all.Errors = suite.Errors+1, all.Errors+1
		}
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

func newSuite(c *Comparison, first Result) junitSuite {
	suite := junitSuite{
		Name: clean(first.Backend), Timestamp: c.StartedAt.UTC().Format("2006-01-02T15:04:05"), Hostname: "localhost",
		Properties: []junitProperty{{"lockcheck", clean(c.Lockcheck)}, {"seed", strconv.FormatInt(c.Seed, 10)}},
	}
	if c.File != "" {
		suite.Properties = append(suite.Properties, junitProperty{"file", clean(c.File)})
	}
	return suite
}

func newCase(r Result, ms int64, from Attachments) junitCase {
	test := junitCase{Name: clean(r.Nemesis + " / " + r.load()), Classname: "lockcheck." + strings.ReplaceAll(clean(r.Backend), ".", "_"),
		Time: seconds(ms), SystemOut: strings.Join(append(output(r), from.lines(r)...), "\n")}
	fault := &junitFault{Message: clean(newAccount(r).message()), Type: string(r.Outcome), Text: faultText(r)}
	switch r.Outcome {
	case Met:
	case Unmet:
		test.Failure = fault
		for _, p := range r.Problems {
			if p.Kind != Unknown {
				fault.Type = string(p.Kind)
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
	for _, line := range newAccount(r).lines() {
		lines = append(lines, clean(line))
	}
	return strings.Join(lines, "\n")
}

// output is what a reader of a passed test may want to know, too.
func output(r Result) (lines []string) {
	if e := r.Expectation; e != nil {
		lines = append(lines, "expected: "+clean(e.Words()+at(Problem{File: e.File, Line: e.Line})), "because: "+clean(e.Reason))
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
	return lines
}

// clean is one line without what XML cannot hold, nor what would make CI attach a file that a run's words name.
func clean(text string) string {
	return strings.ReplaceAll(words.Plain(text), "[ATTACHMENT", "(ATTACHMENT")
}

// milliseconds is how long the runs of a cell took. All times are sums of these, so that none is rounded after it was added.
func milliseconds(r Result) int64 {
	var ns int64
	for _, run := range r.Runs {
		ns += max(run.DurationNS, 0)
	}
	return time.Duration(ns).Round(time.Millisecond).Milliseconds()
}

func seconds(ms int64) string { return fmt.Sprintf("%d.%03d", ms/1000, ms%1000) }
