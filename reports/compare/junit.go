package compare

import (
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"lockcheck/reports/junit"
	"lockcheck/reports/rundir"
	"lockcheck/reports/words"
)

// JUnit writes the comparison as JUnit XML, a suite a backend and a case a cell. An expected violation that was seen has
// passed, its story in system-out; what is missing or unexpected is a failure, and what no run could tell an error. A suite
// took as long as its cases, and all as long as the suites, to the millisecond: cells that ran side by side took less.
func JUnit(w io.Writer, c *Comparison, from Attachments) error {
	all := junit.Suites{Name: "lockcheck compare"}
	for _, cell := range c.Cells {
		if n := len(all.Suites); n == 0 || all.Suites[n-1].Name != junit.Clean(cell.Backend) {
			all.Suites = append(all.Suites, newSuite(c, cell))
		}
		suite := &all.Suites[len(all.Suites)-1]
		suite.Cases = append(suite.Cases, newCase(cell, from))
	}
	return junit.Write(w, all)
}

func newSuite(c *Comparison, first Result) junit.Suite {
	suite := junit.Suite{
		Name: junit.Clean(first.Backend), Timestamp: c.StartedAt.UTC().Format("2006-01-02T15:04:05"), Hostname: "localhost",
		Properties: []junit.Property{{Name: "lockcheck", Value: junit.Clean(c.Lockcheck)}, {Name: "seed", Value: strconv.FormatInt(c.Seed, 10)}},
	}
	if c.File != "" {
		suite.Properties = append(suite.Properties, junit.Property{Name: "file", Value: junit.Clean(c.File)})
	}
	return suite
}

func newCase(r Result, from Attachments) junit.Case {
	test := junit.Case{Name: junit.Clean(r.Nemesis + " / " + r.load()), Classname: "lockcheck." + strings.ReplaceAll(junit.Clean(r.Backend), ".", "_"),
		MS: milliseconds(r), SystemOut: strings.Join(append(output(r), from.lines(r)...), "\n")}
	fault := &junit.Fault{Message: junit.Clean(newAccount(r).message()), Type: string(r.Outcome), Text: faultText(r)}
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
		lines = append(lines, junit.Clean(line))
	}
	return strings.Join(lines, "\n")
}

// output is what a reader of a passed test may want to know, too.
func output(r Result) (lines []string) {
	if e := r.Expectation; e != nil {
		lines = append(lines, "expected: "+junit.Clean(e.Words()+at(Problem{File: e.File, Line: e.Line})), "because: "+junit.Clean(e.Reason))
	}
	if r.Made > 0 {
		w := newRow(r)
		lines = append(lines, "found: "+w.Found, "violated runs: "+w.Runs, "exposure: "+w.Exposure)
	}
	if run, ok := r.representative(); ok && run.Error == "" {
		lines = append(lines, junit.Clean(run.Sentence))
		for _, line := range run.Story {
			lines = append(lines, "  "+junit.Clean(line))
		}
		lines = append(lines, "reproduce: "+junit.Clean(words.ShellWords(run.Command)), "report: "+junit.Clean(run.Report))
	}
	return lines
}

// milliseconds is how long the runs of a cell took. All times are sums of these, so that none is rounded after it was added.
func milliseconds(r Result) int64 {
	var ns int64
	for _, run := range r.Runs {
		ns += max(run.DurationNS, 0)
	}
	return time.Duration(ns).Round(time.Millisecond).Milliseconds()
}

// Attachments says where the files of runs lie. CI systems attach to a test case the files that lines of its output name.
type Attachments struct {
	// Dir is the directory of the comparison, which the paths of runs are relative to.
	Dir string
	// Project is the directory that paths are written relative to: GitLab serves a job's artifacts by their path below
	// CI_PROJECT_DIR. "" writes absolute paths, as Jenkins' plugin for attachments wants them.
	Project string
}

// attached are the files of a run, the one for people first: GitLab shows only the first of a case.
var attached = []string{rundir.ReportFile, rundir.HistoryFile, rundir.ResourceFile, rundir.PlanFile}

// lines name the report and the recording of a cell that is not as it should be, as far as they are there.
func (a Attachments) lines(r Result) (lines []string) {
	if r.Outcome == Met {
		return nil
	}
	dirs := []string{r.Stopped}
	if run, ok := r.representative(); ok {
		dirs = []string{run.Dir, r.Stopped}
	}
	for _, dir := range dirs {
		for _, name := range attached {
			if path := a.path(dir, name); dir != "" && path != "" {
				lines = append(lines, "[[ATTACHMENT|"+path+"]]")
			}
		}
	}
	return lines
}

// path is a file of a run's directory as CI wants it; "" if it is not there, or cannot be named: not below the project, or with
// a character in its path that ends such a line for one reader or the other.
func (a Attachments) path(dir, name string) string {
	path, err := filepath.Abs(filepath.Join(a.Dir, filepath.FromSlash(dir), name))
	if err != nil {
		return ""
	}
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	if a.Project != "" {
		if path = below(resolved(a.Project), resolved(path)); !filepath.IsLocal(path) {
			return ""
		}
	}
	if strings.ContainsAny(path, "[]|") || words.Plain(path) != path {
		return ""
	}
	return path
}

// resolved is a path without links, where they can be followed.
func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}
