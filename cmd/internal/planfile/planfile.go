// Package planfile reads a plan file: what lockcheck plan --json prints, edited by hand if need be. It is strict: what it does not
// know, or what cannot be, is refused with file, line and column.
package planfile

import (
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"

	"lockcheck/checker/history"
	"lockcheck/nemesis"
	"lockcheck/reports/compare/config"
)

// File is a plan file that was read.
type File struct {
	Path string
	Plan history.Plan
	text []byte
	root *node
}

// Read reads a file. Its errors are *config.Error or config.Mistakes, but for what the system says of the file.
func Read(path string) (*File, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, history.MaxPlan+1))
	if err != nil {
		return nil, err
	}
	if len(text) > history.MaxPlan {
		return nil, &config.Error{File: path, Text: fmt.Sprintf("it is longer than %d bytes: not a plan", history.MaxPlan)}
	}
	return read(path, text)
}

func read(path string, text []byte) (*File, error) {
	root, err := parse(path, text)
	if err != nil {
		return nil, err
	}
	f := &File{Path: path, text: text, root: root}
	var wrong config.Mistakes
	decoding{func(at int, format string, args ...any) {
		wrong = append(wrong, mistake(path, text, at, fmt.Sprintf(format, args...)))
	}}.into(reflect.ValueOf(&f.Plan).Elem(), root, "the plan")
	if len(wrong) > 0 {
		return nil, wrong
	}
	switch plan := f.Plan; {
	case plan.Version != history.FormatVersion:
		return nil, f.Mistake("version", fmt.Sprintf("the plan's version is %d; this lockcheck reads version %d", plan.Version, history.FormatVersion))
	case len(plan.Command) < 2 || plan.Command[1] != "run":
		return nil, f.Mistake("command", "the plan does not say which command it is the plan of: start with what lockcheck plan --json prints")
	case plan.Excerpt != nil:
		return nil, f.Mistake("excerpt", "this is an excerpt of a run, without its schedule: take the plan of the run")
	}
	return f, nil
}

// Has reports whether the file has a field of the plan. null is as if it were left out.
func (f *File) Has(name string) bool {
	n := f.root.find(name)
	return n != nil && n.value != nil
}

// Mistake is an error at a field of the plan, or at its beginning if it is not there.
func (f *File) Mistake(name, words string) *config.Error {
	at := f.root.at
	if n := f.root.find(name); n != nil {
		at = n.at
	}
	return mistake(f.Path, f.text, at, words)
}

// Misplaced has the mistakes that nemesis.FromSchedule found at their places in the file. Other errors it returns as they are.
func (f *File) Misplaced(err error) error {
	var joined interface{ Unwrap() []error }
	if !errors.As(err, &joined) {
		return err
	}
	var wrong config.Mistakes
	for _, one := range joined.Unwrap() {
		var m *nemesis.Misplaced
		if !errors.As(one, &m) {
			return err
		}
		wrong = append(wrong, mistake(f.Path, f.text, f.place(m), m.Err.Error()))
	}
	return wrong
}

// place is where a mistake is: its field, or what should have that field.
func (f *File) place(m *nemesis.Misplaced) int {
	n := f.root.find("schedule").items[m.Round]
	if m.Step >= 0 {
		n = n.find("steps").items[m.Step]
	}
	if at := n.find(m.Field); at != nil {
		n = at
	}
	return n.at
}

// Differences are mistakes: fields of the file that are not as the plan has them that the file's command makes. Those that only a
// run fills in are not looked at.
func (f *File) Differences(made history.Plan) config.Mistakes {
	var wrong config.Mistakes
	inFile, is := reflect.ValueOf(f.Plan), reflect.ValueOf(made)
	for i := range inFile.NumField() {
		name := nameOf(inFile.Type().Field(i))
		if !f.Has(name) || !slices.Contains(fromCommand, name) || reflect.DeepEqual(inFile.Field(i).Interface(), is.Field(i).Interface()) {
			continue
		}
		wrong = append(wrong, f.Mistake(name, fmt.Sprintf("%s follows from command, which makes it %v: change it there, and leave this out", name, is.Field(i).Interface())))
	}
	return wrong
}

// fromCommand are fields that follow from the command: to change one alone would change nothing.
var fromCommand = []string{
	"backend", "client", "workload", "nemesis", "guard", "seed", "nodes", "fronts", "clients", "keys", "time_limit_ms", "ttl_ms", "resource", "slot_ms", "execution", "work", "until",
	"settings", "effective_ttl_ms", "election_ms", "grace_ms", "lock_delay_ms", "drift_ms", "fenced", "lease_clock",
}

// Stale are mistakes in what says the schedule once more: it is as it was drawn, or as it is now.
func (f *File) Stale(made, drawn history.Plan) config.Mistakes {
	var wrong config.Mistakes
	if f.Has("steps") && !slices.Equal(f.Plan.Steps, made.Steps) && !slices.Equal(f.Plan.Steps, drawn.Steps) {
		wrong = append(wrong, f.Mistake("steps", "steps are the schedule in words: change schedule, and leave these out or as they were"))
	}
	if f.Has("exposure") && !sameSet(f.Plan.Exposure, made.Exposure) && !sameSet(f.Plan.Exposure, drawn.Exposure) {
		wrong = append(wrong, f.Mistake("exposure", "what a run needs follows from its schedule: leave this out or as it was"))
	}
	return wrong
}

// sameSet reports whether two lists require the same, in whatever order.
func sameSet(a, b []history.Requirement) bool {
	return len(a) == len(b) && !slices.ContainsFunc(a, func(r history.Requirement) bool { return !slices.Contains(b, r) })
}
