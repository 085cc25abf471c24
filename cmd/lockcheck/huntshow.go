package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"github.com/spf13/pflag"

	"lockcheck/checker/history"
	"lockcheck/cmd/internal/harness"
	"lockcheck/cmd/internal/hunt"
	"lockcheck/reports/compare/config"
	"lockcheck/reports/hunts"
	"lockcheck/reports/index"
	"lockcheck/reports/rundir"
	"lockcheck/reports/words"
)

// What of a hunt's finds --fail-on can name.
const (
	failOnAny = "any"
	failOnNew = "new"
)

// huntShow is what finds a user knows, and where a hunt is shown beside its directory. It can be said anew when a hunt is resumed; else the first
// two are as the hunt was begun.
type huntShow struct {
	failOn, known, junit string

	finds []config.Find // of the file of known ones
}

// ofHuntShow are its flags.
var ofHuntShow = []string{"fail-on", "known", "junit"}

func (f *huntShow) bind(flags *pflag.FlagSet) {
	flags.StringVar(&f.failOn, "fail-on", failOnAny, "which finds exit with 1: any, or new (those that --known does not list)")
	flags.StringVar(&f.known, "known", "", "file of the known finds, each with its reason")
	flags.StringVar(&f.junit, "junit", "", "write the JUnit XML to this file, too")
}

// check reads the file of known finds, before anything is started. begun is the hunt that is resumed; of a new one it is empty.
func (f *huntShow) check(given *pflag.FlagSet, begun hunt.Header) (err error) {
	if !given.Changed("fail-on") {
		f.failOn = cmp.Or(begun.FailOn, f.failOn)
	}
	if !given.Changed("known") {
		f.known, f.finds = begun.Known, begun.KnownFinds
	}
	switch {
	case f.failOn != failOnAny && f.failOn != failOnNew:
		return fmt.Errorf("--fail-on=%s: say any or new%s", f.failOn, history.Meant("", f.failOn, []string{failOnAny, failOnNew}))
	case f.failOn == failOnNew && f.known == "" && !given.Changed("known"):
		return errors.New("--fail-on=new needs --known=FILE, which lists the finds that are not new; a file with known: [] lists none")
	case given.Changed("known"):
		if f.finds, err = config.ReadFinds(f.known); err != nil {
			var mistake *config.Error
			if !errors.As(err, &mistake) {
				return fmt.Errorf("--known: %w", err)
			}
		}
		f.known = portablePath(f.known)
		for i := range f.finds {
			f.finds[i].File = f.known
		}
	}
	return err
}

// ignores reports whether a find is known.
func (f *huntShow) ignores(find hunt.Find) bool {
	return slices.ContainsFunc(f.finds, func(known config.Find) bool { return known.Is(find.Property, find.Party, find.Shape) })
}

// huntShown keeps and shows what came of a hunt.
type huntShown struct {
	h       *hunt.Hunt
	of      *huntShow
	run     *runFlags
	dir     string
	out     output
	failed  error // what ended it, if it was not the budget or the user
	written error // what could not be written, which is said once
	linked  int   // finds
}

func (s *huntShown) record(interrupted bool) hunts.Record {
	r := s.h.Record(filepath.ToSlash(portablePath(s.dir)), s.of.finds)
	r.KnownFails = s.of.failOn != failOnNew
	r.Backend, r.Client, r.Interrupted = s.run.Backend, lockClientOf(s.run.Backend, s.run.Client), interrupted
	r.StartedAt, _ = hunts.ParseName(filepath.Base(s.dir))
	return r
}

// save writes the files of the hunt's directory, as far as it came. What cannot be written ends no hunt.
func (s *huntShown) save(interrupted bool) hunts.Record {
	r := s.record(interrupted)
	r.ExitCode = s.code(r)
	for _, f := range r.Finds[min(s.linked, len(r.Finds)):] {
		f.Link(s.dir)
	}
	s.linked = len(r.Finds)
	s.written = r.Save(s.dir)
	return r
}

// code is the exit code that the hunt comes to.
func (s *huntShown) code(r hunts.Record) int {
	var unmade *hunt.UnmadeError
	switch {
	case errors.As(s.failed, &unmade):
		return unmade.Code
	case s.failed != nil:
		return exitCode(s.failed)
	case r.Interrupted:
		return exitInterrupted
	}
	return exitCode(verdictError{r.Verdict()})
}

// end shows a hunt whose runs are over, or were ended.
func (s *huntShown) end(ctx context.Context, failed error) error {
	s.failed = failed
	interrupted := ctx.Err() != nil
	r := s.save(interrupted || failed != nil)
	warn(s.out.errOut, s.written)
	if s.of.junit != "" {
		if err := rundir.WriteAtomically(s.of.junit, func(w io.Writer) error { return hunts.JUnit(w, r) }); err != nil {
			warn(s.out.errOut, fmt.Errorf("--junit: cannot write %s: %w", s.of.junit, err))
		}
	}
	s.list(r)
	warn(s.out.errOut, index.Write(filepath.Dir(s.dir), time.Now()))
	var unmade *hunt.UnmadeError
	switch {
	case errors.As(failed, &unmade):
		fmt.Fprintln(s.out.errOut, "lockcheck: "+words.Plain(unmade.Error()))
	case failed != nil:
		return failed
	case interrupted:
		fmt.Fprintf(s.out.errOut, "lockcheck: to go on: %s\n", words.ShellWords([]string{"lockcheck", "hunt", "--resume=" + s.dir}))
	}
	if r.ExitCode != exitPass {
		return harness.ExitStatus(r.ExitCode)
	}
	return nil
}

// list ends a hunt with what it found.
func (s *huntShown) list(r hunts.Record) {
	chance := 0
	for _, run := range r.Runs {
		if run.Chance {
			chance++
		}
	}
	fmt.Fprintf(s.out.out, "%s; %d by chance; %d states and orders that two runs had\n", words.Plain(r.Sentence()), chance, s.h.Seen())
	if closest, run, ok := r.Closest(); ok {
		fmt.Fprintf(s.out.out, "closest   run %d stayed %s from a violation of %s\n", run.N, closest.Words(), closest.Property)
	}
	fmt.Fprintf(s.out.out, "report    %s\n", filepath.Join(s.dir, hunts.HTMLFile))
	for _, f := range r.Finds {
		by := "chosen by the search"
		if f.Chance {
			by = "by chance"
		}
		fmt.Fprintf(s.out.out, "\n%d: %s\n", f.N, words.Plain(f.Signature))
		fmt.Fprintf(s.out.out, "  %s\n", words.Plain(f.Summary))
		fmt.Fprintf(s.out.out, "  run %d, %s, after %s: --nemesis=%s\n", f.Run, by, time.Duration(f.EndedNS).Round(time.Second), words.ShellWords([]string{f.Nemesis}))
		if f.Gallery != "" {
			fmt.Fprintf(s.out.out, "  like lockcheck gallery %s, which violates the same property\n", f.Gallery)
		}
		switch {
		case f.Known != "":
			fmt.Fprintf(s.out.out, "  known (%s): %s\n", words.Plain(f.KnownAt), words.Plain(f.Known))
		case s.of.known != "":
			fmt.Fprintf(s.out.out, "  NEW: %s does not list it\n", words.Plain(s.of.known))
		}
		fmt.Fprintf(s.out.out, "  report  %s\n  shrink  %s\n", words.Plain(filepath.Join(s.dir, filepath.FromSlash(f.Report))), words.ShellWords([]string{"lockcheck", "shrink", filepath.Join(s.dir, fmt.Sprint(f.N))}))
	}
}

// progressOf is a line for a trial that ended: what came of it, and how the hunt gets on.
func progressOf(h *hunt.Hunt, e hunt.Ended) string {
	line := fmt.Sprintf("run %d: %s: ", e.N, e.Trial)
	switch {
	case len(e.News.New) > 0:
		line += "FOUND " + e.News.New[0].Summary
	case e.Barren != "":
		line += "taught nothing: " + e.Barren
	case len(e.Finds) > 0:
		line += "found again: " + string(e.Finds[0].Property)
	default:
		line += fmt.Sprintf("%d new states or orders", e.News.Features)
	}
	if e.News.Closer {
		line += ", closer than before"
	}
	status := history.Counted(int64(h.Finds()), "find", "finds")
	if m, _, ok := h.Record("", nil).Closest(); ok {
		status += fmt.Sprintf(", closest %s to %s", m.Words(), m.Property)
	}
	return fmt.Sprintf("%s (%s, %s left)", line, status, max(0, h.Header.Budget-e.At).Round(time.Second))
}

// portablePath is a path as the files of a hunt name it, which are read on other machines, too: relative to the working directory, or the last
// element alone if it is not below that.
func portablePath(path string) string {
	if !filepath.IsAbs(path) {
		return path
	}
	if here, err := os.Getwd(); err == nil {
		if relative, err := filepath.Rel(here, path); err == nil && filepath.IsLocal(relative) {
			return relative
		}
	}
	return filepath.Base(path)
}

// portable makes paths in a text relative that are below the hunt's directory, or else the working directory.
func portable(text, dir string) string {
	for _, root := range []string{dir, "."} {
		absolute, err := filepath.Abs(root)
		if err != nil {
			continue
		}
		real, _ := filepath.EvalSymlinks(absolute)
		for _, root := range []string{absolute, cmp.Or(real, absolute)} {
			if filepath.Dir(root) != root {
				text = regexp.MustCompile(`(^|[^\w./-])`+regexp.QuoteMeta(root)+`[/\\]`).ReplaceAllString(text, "$1")
			}
		}
	}
	return text
}
