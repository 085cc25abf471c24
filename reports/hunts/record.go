// Package hunts keeps and shows what a search for failures found: hunt.json for programs, hunt.html for people, and JUnit for CI. It starts
// nothing.
package hunts

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
	"lockcheck/reports/compare"
	"lockcheck/reports/rundir"
)

// The files of a hunt's directory, beside the runs that it keeps and links to its finds.
const (
	// JournalFile is which the hunt itself writes and reads: a header, then each decision and each outcome, a JSON object a line.
	// Each line is synced before the hunt goes on, so that a killed hunt loses at most the runs that were under way.
	JournalFile = "hunt.jsonl"
	JSONFile    = "hunt.json"
	HTMLFile    = "hunt.html"
	JUnitFile   = "junit.xml"
	LatestLink  = "latest-hunt"
	namePrefix  = "hunt-"
)

// FormatVersion is that of hunt.json.
const FormatVersion = 1

// Record is what came of a hunt so far.
type Record struct {
	Version     int       `json:"version"`
	Lockcheck   string    `json:"lockcheck"`
	Backend     string    `json:"backend"`
	Client      string    `json:"client"`
	Flags       []string  `json:"flags"` // of every run
	For         []string  `json:"for"`
	Seed        int64     `json:"seed"`
	StartedAt   time.Time `json:"started_at"`
	BudgetNS    int64     `json:"budget_ns"`
	SpentNS     int64     `json:"spent_ns"`
	Interrupted bool      `json:"interrupted"` // or still running
	ExitCode    int       `json:"exit_code"`
	KnownFails  bool      `json:"known_fails"` // a known find fails the hunt like a new one
	Runs        []Run     `json:"runs"`        // that ended, in this order
	Finds       []Find    `json:"finds"`
}

// Run is one run of a hunt.
type Run struct {
	N       int           `json:"n"`
	Chance  bool          `json:"by_chance"` // else the search chose it
	Nemesis string        `json:"nemesis"`
	Kinds   string        `json:"kinds"` // of the nemesis's steps
	Seed    int64         `json:"seed"`
	EndedNS int64         `json:"ended_ns"` // of the budget
	Verdict model.Verdict `json:"verdict,omitempty"`
	Barren  string        `json:"barren,omitempty"` // why it taught nothing
	// Covered is how many states and orders two runs had by then: two of those by chance, or two of the others.
	Covered int      `json:"covered"`
	Margins []Margin `json:"margins,omitempty"`
	Found   []string `json:"found,omitempty"` // signatures
	Dir     string   `json:"dir,omitempty"`   // relative to hunt.json, with slashes; "" if it was not kept
}

// Margin is how far a run stayed from a violation, in nanoseconds, or tokens.
type Margin struct {
	Property model.Name `json:"property"`
	By       int64      `json:"by"`
}

// Find is a kind of violation, as the first run showed it.
type Find struct {
	N         int        `json:"n"` // from 1; also the name of the link to its run
	Signature string     `json:"signature"`
	Property  model.Name `json:"property"`
	Party     string     `json:"party,omitempty"`
	Shape     string     `json:"shape,omitempty"`
	Cause     string     `json:"cause,omitempty"`
	Summary   string     `json:"summary"`
	Finding   string     `json:"finding,omitempty"` // its ID in the report
	Gallery   string     `json:"gallery,omitempty"` // the scenario that violates the same property
	Known     string     `json:"known,omitempty"`   // why it is no alarm
	KnownAt   string     `json:"known_at,omitempty"`
	Run       int        `json:"run"`  // N of the run
	Runs      int        `json:"runs"` // that showed it
	Nemesis   string     `json:"nemesis"`
	Chance    bool       `json:"by_chance"`
	EndedNS   int64      `json:"ended_ns"`
	Report    string     `json:"report,omitempty"` // of the run, relative to hunt.json
	Shrink    []string   `json:"shrink"`           // the command
}

// New are the finds that nobody named as known.
func (r Record) New() []Find {
	return slices.DeleteFunc(slices.Clone(r.Finds), func(f Find) bool { return f.Known != "" })
}

// Fails reports whether a find fails the hunt.
func (r Record) Fails(f Find) bool { return f.Known == "" || r.KnownFails }

// Tested reports whether any run taught anything.
func (r Record) Tested() bool {
	return slices.ContainsFunc(r.Runs, func(run Run) bool { return run.Barren == "" })
}

// Verdict is what the hunt comes to: a find that fails it, or nothing that was tested, spoils a pass.
func (r Record) Verdict() model.Verdict {
	switch {
	case slices.ContainsFunc(r.Finds, r.Fails):
		return model.Violation
	case r.Interrupted || !r.Tested():
		return model.Inconclusive
	}
	return model.Pass
}

// Closest is the run that came closest to a violation, and how close; ok is false if none came close to any. Tokens cannot be compared with
// times and do not count.
func (r Record) Closest() (closest Margin, run Run, ok bool) {
	for _, one := range r.Runs {
		for _, m := range one.Margins {
			if m.Property != model.TokenMonotonicity && m.By > 0 && (!ok || m.By < closest.By) {
				closest, run, ok = m, one, true
			}
		}
	}
	return closest, run, ok
}

// Sentence is the whole in a line.
func (r Record) Sentence() string {
	known := len(r.Finds) - len(r.New())
	barren := 0
	for _, run := range r.Runs {
		if run.Barren != "" {
			barren++
		}
	}
	text := history.Counted(int64(len(r.New())), "find", "finds")
	if known > 0 {
		text = history.Counted(int64(len(r.New())), "new find", "new finds") + fmt.Sprintf(" and %d known", known)
	}
	text += " in " + history.Counted(int64(len(r.Runs)), "run", "runs")
	if barren > 0 {
		text += fmt.Sprintf(", of which %d taught nothing", barren)
	}
	if r.Interrupted {
		text += "; interrupted"
	}
	return text
}

// Words are the margin as people read it.
func (m Margin) Words() string {
	switch {
	case m.By <= 0:
		return "violated"
	case m.Property == model.TokenMonotonicity:
		return history.Counted(m.By, "token", "tokens")
	}
	return history.Duration(m.By)
}

// Write prints the record as JSON.
func (r Record) Write(w io.Writer) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", " ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(r)
}

// Save writes hunt.json, the page and junit.xml into a directory.
func (r Record) Save(dir string) error {
	return errors.Join(rundir.WriteAtomically(filepath.Join(dir, JSONFile), r.Write),
		rundir.WriteAtomically(filepath.Join(dir, HTMLFile), func(w io.Writer) error { return HTML(w, r) }),
		rundir.WriteAtomically(filepath.Join(dir, JUnitFile), func(w io.Writer) error { return JUnit(w, r) }))
}

// Read reads the hunt.json of a directory.
func Read(dir string) (r Record, err error) {
	file := filepath.Join(dir, JSONFile)
	text, err := os.ReadFile(file)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return r, fmt.Errorf("%s is no directory of lockcheck hunt: it has no %s", dir, JSONFile)
	case err != nil:
		return r, err
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return r, fmt.Errorf("%s cannot be read: %w", file, err)
	}
	if r.Version != FormatVersion {
		return r, fmt.Errorf("%s is of format %d; this lockcheck reads %d", file, r.Version, FormatVersion)
	}
	return r, nil
}

// CreateDir makes the directory of a new hunt, out/hunt-<time>, and points out/latest-hunt at it.
func CreateDir(out string, now time.Time) (string, error) {
	return rundir.CreateMany(out, namePrefix, LatestLink, compare.RunsDir, now)
}

// ParseName is when the hunt was started whose directory has a name; ok is false for a name that lockcheck does not give.
func ParseName(name string) (started time.Time, ok bool) { return rundir.ParseMany(namePrefix, name) }

var linkName = regexp.MustCompile(`^[1-9]\d{0,5}$`)

// IsLink reports whether a hunt gives such a name to the link to the run of a find.
func IsLink(name string) bool { return linkName.MatchString(name) }

// Link points dir/<n> at the run of a find, so that it has a short name. Where the system has no links there is none.
func (f Find) Link(dir string) {
	if f.Report != "" {
		_ = os.Symlink(path.Dir(f.Report), filepath.Join(dir, fmt.Sprint(f.N)))
	}
}
