package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"lockcheck/cmd/internal/harness"
	"lockcheck/reports/compare"
	"lockcheck/reports/rundir"
	"lockcheck/reports/terminal"
	"lockcheck/reports/words"
)

// showFlags say where a comparison is shown beside its directory; merge has them too.
type showFlags struct {
	summary             string
	junit, html, asJSON string
	annotations         bool
	open                bool
}

func (f *showFlags) bind(flags *pflag.FlagSet) {
	flags.StringVar(&f.summary, "summary", "", "append Markdown to this file, such as $GITHUB_STEP_SUMMARY, up to 1 MiB")
	flags.StringVar(&f.junit, "junit", "", "write the JUnit XML to this file, too")
	flags.StringVar(&f.html, "html", "", "write the page as index.html in this directory, with the reports of all runs, ready to publish")
	flags.StringVar(&f.asJSON, "json-file", "", "write compare.json to this file, too")
	flags.BoolVar(&f.annotations, "annotations", false, "print annotations for GitHub on standard output (default: if GITHUB_ACTIONS=true)")
	openFlag(flags, &f.open)
}

func (f *showFlags) check(out output) error {
	if f.annotations && out.json {
		return errors.New("--annotations and --json both want standard output")
	}
	return nil
}

// conclude writes the files of a comparison and shows it. The verdict is known by then. What could not be written is said once
// for each file, and decides the exit code only where the verdict is no worse; unwritten is what could not be before.
func (f *showFlags) conclude(c *compare.Comparison, dir string, out output, unwritten ...error) error {
	written := true
	try := func(err error) {
		if err == nil {
			return
		}
		written = false
		for line := range strings.Lines(err.Error()) { // one for each file
			fmt.Fprintf(out.errOut, "lockcheck: %s\n", strings.TrimSuffix(line, "\n"))
		}
	}
	try(errors.Join(unwritten...))
	try(compare.WriteFiles(dir, c, gitlabProject()))
	try(f.writeElsewhere(c, dir))
	for _, cell := range c.Cells {
		for _, run := range cell.Runs {
			if run.Unwritten != "" && run.Report == "" {
				fmt.Fprintf(out.errOut, "lockcheck: warning: %v, seed %d: %s\n", cell.Cell, run.Seed, words.Plain(run.Unwritten))
			}
		}
	}
	page := filepath.Join(dir, compare.HTMLFile)
	if _, err := os.Stat(page); err != nil {
		page = ""
	}
	if out.json {
		try(shown(c.Write(out.out)))
	} else {
		try(shown(compare.Summary(out.out, c, compare.Shown{Dir: dir, Page: page, Color: terminal.Color(out.out), Quiet: out.quiet})))
		if f.annotations || onGitHub() {
			try(shown(compare.Annotations(out.out, c, os.Getenv("GITHUB_WORKSPACE"))))
		}
	}
	if page != "" {
		out.open(page)
	}
	switch {
	case !written && (c.ExitCode == exitPass || c.ExitCode == exitInconclusive):
		return harness.ExitStatus(exitUnavailable)
	case c.ExitCode != exitPass:
		return harness.ExitStatus(c.ExitCode)
	}
	return nil
}

// shown explains why standard output, a closed pipe for example, did not take a comparison.
func shown(err error) error {
	if err != nil {
		return fmt.Errorf("cannot show the comparison: %w", err)
	}
	return nil
}

// writeElsewhere writes what the flags want beside the comparison's directory. The error has a line for each file.
func (f *showFlags) writeElsewhere(c *compare.Comparison, dir string) error {
	var errs []error
	file := func(flag, name string, write func(io.Writer) error) {
		if name == "" {
			return
		}
		if err := rundir.WriteAtomically(name, write); err != nil {
			errs = append(errs, fmt.Errorf("--%s: cannot write %s: %w", flag, name, err))
		}
	}
	file("junit", f.junit, func(w io.Writer) error {
		return compare.JUnit(w, c, compare.Attachments{Dir: dir, Project: gitlabProject()})
	})
	file("json-file", f.asJSON, c.Write)
	if f.html != "" {
		if err := compare.WritePage(f.html, dir, c); err != nil {
			errs = append(errs, fmt.Errorf("--html: %w", err))
		}
	}
	if f.summary != "" {
		errs = append(errs, compare.AppendSummary(f.summary, c))
	}
	return errors.Join(errs...)
}

// gitlabProject is the directory that GitLab's paths of artifacts are relative to; "" in any other CI.
func gitlabProject() string {
	if os.Getenv("GITLAB_CI") != "true" {
		return ""
	}
	return os.Getenv("CI_PROJECT_DIR")
}
