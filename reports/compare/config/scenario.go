package config

import (
	"slices"

	"lockcheck/checker/model"
	"lockcheck/reports/compare"
)

// Scenario is a known failure of a lock as one file: a run that shows it, and the nearest run that does not fail.
type Scenario struct {
	Name      string
	File      string
	Title     string // what happens, in a line
	Reference string // where it happened
	Teaches   string
	FixedIn   string    // the first version that does not fail so; "" where it follows from the design
	Measured  *Measured // nil if that was not measured
	Failure   Half
	Contrast  Half

	places compare.Places
}

// Measured is how often a scenario was reproduced.
type Measured struct {
	Seeds      int    `json:"seeds"`
	Reproduced int    `json:"reproduced"`
	Date       string `json:"date"`
}

// HalfName tells the two runs of a scenario apart.
type HalfName string

// The two halves.
const (
	Failure  HalfName = "failure"
	Contrast HalfName = "contrast"
)

// Half is one run of a scenario, and what has to come of it.
type Half struct {
	Name    HalfName
	Because string // why the contrast does not fail; "" for the failure
	Library string // the lock client of scripts/libraries that it is run with; "" for another
	Flags   []compare.Flag
	Expect  []Expected
}

// Expected is what has to come of one property: one of the verdicts, and with a violation the kind of cause that one of its findings
// has to have; "" for any.
type Expected struct {
	compare.Wanted
	Cause string
}

// Half is the half of that name.
func (s Scenario) Half(name HalfName) Half {
	if name == Contrast {
		return s.Contrast
	}
	return s.Failure
}

// Backend is the lock service of the half; "" if its file names none.
func (h Half) Backend() string {
	for _, f := range h.Flags {
		if f.Name == "backend" {
			return f.Value
		}
	}
	return ""
}

// ExpectsViolation reports whether a violation has to come. A run of a half of which none has to come must have none but those that its
// file lists as possible.
func (h Half) ExpectsViolation() bool {
	return slices.ContainsFunc(h.Expect, func(e Expected) bool { return slices.Equal(e.Verdicts, []model.Verdict{model.Violation}) })
}

// Mistake is what is wrong with a flag of a half, at its place in the file.
func (s Scenario) Mistake(half HalfName, flag compare.Flag, err error) *Error {
	at := s.places.Flag(compare.Cell{Backend: string(half), Nemesis: flag.Value, Workload: flag.Value}, flag)
	return &Error{s.File, at.Line, at.Column, err.Error()}
}
