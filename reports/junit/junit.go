// Package junit writes JUnit XML, as CI reads it. Comparisons and hunts call it.
package junit

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"lockcheck/reports/words"
)

// Suites is a whole file. JUnit's XML has no schema of its own; these are the elements, attributes and their order on which the usual readers
// agree (Jenkins, GitLab, GitHub actions that publish test results). Jenkins' xUnit plugin refuses a whole file for one
// attribute that it does not know, such as a case's file and line.
type Suites struct {
	XMLName  xml.Name `xml:"testsuites"`
	Name     string   `xml:"name,attr"`
	Tests    int      `xml:"tests,attr"`
	Failures int      `xml:"failures,attr"`
	Errors   int      `xml:"errors,attr"`
	Time     string   `xml:"time,attr"`
	Suites   []Suite  `xml:"testsuite"`
}

// Suite is a group of cases.
type Suite struct {
	Name       string     `xml:"name,attr"`
	Tests      int        `xml:"tests,attr"`
	Failures   int        `xml:"failures,attr"`
	Errors     int        `xml:"errors,attr"`
	Skipped    int        `xml:"skipped,attr"`
	Time       string     `xml:"time,attr"`
	Timestamp  string     `xml:"timestamp,attr"`
	Hostname   string     `xml:"hostname,attr"`
	Properties []Property `xml:"properties>property"`
	Cases      []Case     `xml:"testcase"`
}

// Property is a fact about a suite.
type Property struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

// Case is one test. It passed if it has neither error nor failure.
type Case struct {
	Name      string `xml:"name,attr"`
	Classname string `xml:"classname,attr"`
	Time      string `xml:"time,attr"`
	Error     *Fault `xml:"error,omitempty"`
	Failure   *Fault `xml:"failure,omitempty"`
	SystemOut string `xml:"system-out,omitempty"`

	MS int64 `xml:"-"` // how long it took
}

// Fault is why a case did not pass.
type Fault struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
	Text    string `xml:",chardata"`
}

// Write counts the cases, adds up their times and writes the file. A suite takes as long as its cases, and all as long as the suites, to the
// millisecond.
func Write(w io.Writer, all Suites) error {
	var ms int64
	for i := range all.Suites {
		suite := &all.Suites[i]
		ms += suite.count()
		all.Tests, all.Failures, all.Errors = all.Tests+suite.Tests, all.Failures+suite.Failures, all.Errors+suite.Errors
	}
	all.Time = seconds(ms)
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

func (s *Suite) count() (ms int64) {
	s.Tests = len(s.Cases)
	for i := range s.Cases {
		c := &s.Cases[i]
		ms += c.MS
		c.Time = seconds(c.MS)
		if c.Failure != nil {
			s.Failures++
		}
		if c.Error != nil {
			s.Errors++
		}
	}
	s.Time = seconds(ms)
	return ms
}

// Clean is one line without what XML cannot hold, nor what would make CI attach a file that a run's words name.
func Clean(text string) string {
	return strings.ReplaceAll(words.Plain(text), "[ATTACHMENT", "(ATTACHMENT")
}

func seconds(ms int64) string { return fmt.Sprintf("%d.%03d", ms/1000, ms%1000) }
