package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// event is one line of `go test -json` (see go doc test2json).
type event struct {
	Action  string
	Package string
	Test    string // "" for what is said of the package
	Output  string

	FailedBuild string // of a package that could not be built
}

type name struct{ pkg, test string }

// filter keeps what each test said until it is known how it ended.
type filter struct {
	out, skipped, failed io.Writer
	said                 map[name][]string
	blamed               map[name]bool // what has a line in failed
}

func newFilter(out, skipped, failed io.Writer) *filter {
	return &filter{out, skipped, failed, map[name][]string{}, map[name]bool{}}
}

// line takes a line. What is no event is passed on.
func (f *filter) line(line []byte) error {
	var e event
	if json.Unmarshal(line, &e) != nil {
		_, err := f.out.Write(line)
		return err
	}
	at := name{e.Package, e.Test}
	switch {
	case e.Action == "build-output", e.Action == "output" && e.Test == "" && isSummary(e.Output):
		return f.print(e.Output)
	case e.Action == "output":
		f.said[at] = append(f.said[at], e.Output)
	case e.Action == "fail" && e.Test == "":
		return f.packageFailed(e)
	case e.Action == "fail":
		said := f.take(at)
		return errors.Join(f.print(said...), f.blame(at, reasonToFail(said)))
	case e.Action == "skip" && e.Test != "":
		return f.note(at, reason(f.take(at)))
	case e.Action == "pass", e.Action == "skip":
		delete(f.said, at)
	}
	return nil
}

// note takes down a test that was skipped, unless it says that it is a part of another, in which it runs.
func (f *filter) note(at name, why string) error {
	if strings.HasPrefix(why, "a part of ") {
		return nil
	}
	_, err := fmt.Fprintf(f.skipped, "%s %s: %s\n", at.pkg, at.test, why)
	return err
}

// packageFailed prints all that is kept of a package: tests that it took with it have no end of their own.
func (f *filter) packageFailed(e event) error {
	for _, at := range slices.SortedFunc(maps.Keys(f.said), func(a, b name) int { return strings.Compare(a.test, b.test) }) {
		if at.pkg != e.Package {
			continue
		}
		said := f.take(at)
		err := f.print(said...)
		if said = withoutNoise(said); len(said) > 0 {
			err = errors.Join(err, f.blame(at, "it has no end: "+short(firstAlarm(said))))
		}
		if err != nil {
			return err
		}
	}
	why := "it failed"
	if e.FailedBuild != "" {
		why = "it was not built"
	}
	return f.blame(name{pkg: e.Package}, why)
}

// blame takes down what failed. Without a reason it is not taken down where a part of it is, which then is the reason.
func (f *filter) blame(at name, why string) error {
	parts := 0
	for other := range f.blamed {
		if other.pkg == at.pkg && other != at && (at.test == "" || strings.HasPrefix(other.test, at.test+"/")) {
			parts++
			delete(f.blamed, other) // another run of the same tests has parts of its own
		}
	}
	f.blamed[at] = true
	if parts > 0 && (why == "" || at.test == "") {
		return nil
	}
	if why == "" {
		why = "it does not say why"
	}
	_, err := fmt.Fprintf(f.failed, "%s: %s\n", strings.TrimSpace(at.pkg+" "+at.test), why)
	return err
}

func (f *filter) take(at name) []string {
	said := f.said[at]
	delete(f.said, at)
	return said
}

// noise is what -json adds to go test's words, and what says of a package again what its summary says.
var noise = regexp.MustCompile(`^(=== (RUN|PAUSE|CONT|NAME) .*|PASS|FAIL)\n$`)

func (f *filter) print(said ...string) error {
	for _, text := range said {
		if noise.MatchString(text) {
			continue
		}
		if _, err := io.WriteString(f.out, text); err != nil {
			return err
		}
	}
	return nil
}

var summary = regexp.MustCompile(`^(ok  |FAIL|\?   )\t`)

// isSummary reports whether this is the line on a package. That it has no tests is not worth one.
func isSummary(text string) bool {
	return summary.MatchString(text) && !strings.HasSuffix(text, "[no test files]\n")
}

var position = regexp.MustCompile(`^ *[A-Za-z0-9_]+\.go:[0-9]+: `)

// longest is how much of what a test said stands in its line.
const longest = 400

var alarm = regexp.MustCompile(`^(panic: |fatal error: |WARNING: DATA RACE)`)

// reasonToFail is what a test that failed said first, or that it panicked. What it logs after the first is mostly what was kept for those
// who have to understand it.
func reasonToFail(said []string) string {
	said = withoutNoise(said)
	if slices.ContainsFunc(said, alarm.MatchString) {
		return short(firstAlarm(said))
	}
	var why []string
	for _, text := range said {
		begins := position.FindString(text)
		switch {
		case len(why) > 0 && (begins != "" || strings.HasPrefix(strings.TrimSpace(text), "--- FAIL")):
			return short(why)
		case begins != "":
			why = []string{text[len(begins):]}
		case len(why) > 0:
			why = append(why, text)
		}
	}
	return short(why)
}

// firstAlarm is what was said from the first alarm on, all if there was none.
func firstAlarm(said []string) []string {
	return said[max(0, slices.IndexFunc(said, alarm.MatchString)):]
}

func withoutNoise(said []string) []string {
	return slices.DeleteFunc(slices.Clone(said), noise.MatchString)
}

// short puts the lines into one, and leaves out what is too much for that.
func short(lines []string) string {
	text := strings.Join(strings.Fields(strings.Join(lines, " ")), " ")
	if len(text) > longest {
		return strings.ToValidUTF8(text[:longest], "") + " ..."
	}
	return text
}

// reason is what a test said when it was skipped: the last that it logged.
func reason(said []string) string {
	var why []string
	for _, text := range said {
		switch begins := position.FindString(text); {
		case noise.MatchString(text), strings.HasPrefix(strings.TrimSpace(text), "--- SKIP"):
		case begins != "":
			why = []string{strings.TrimSpace(text[len(begins):])}
		default:
			why = append(why, strings.TrimSpace(text))
		}
	}
	if len(why) == 0 {
		return "it does not say why"
	}
	return strings.Join(why, " ")
}
