package main

import (
	"errors"

	"lockcheck/checker"
	"lockcheck/clusters"
)

// Exit codes, as the README promises them.
const (
	exitPass         = 0
	exitViolation    = 1
	exitInconclusive = 2
	exitUnmet        = 3 // compare only
	exitUsage        = 64
	exitUnavailable  = 69
	exitDefect       = 70
	exitInterrupted  = 130
)

// usageError is a mistake in what the user asked for: a flag, a value, a file.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// verdictError carries a verdict that is not a pass to the exit code; the report has said the rest.
type verdictError struct{ verdict checker.Verdict }

func (e verdictError) Error() string { return "" }

// exitError is the exit code of the process that did the work, which has said all there is to say.
type exitError int

func (e exitError) Error() string { return "" }

// errInterrupted ends a command that the user stopped.
var errInterrupted = errors.New("interrupted")

func exitCode(err error) int {
	var usage usageError
	var verdict verdictError
	var passedOn exitError
	switch {
	case err == nil:
		return exitPass
	case errors.As(err, &passedOn):
		return int(passedOn)
	case errors.As(err, &verdict) && verdict.verdict == checker.Violation:
		return exitViolation
	case errors.As(err, &verdict) && verdict.verdict == checker.Inconclusive:
		return exitInconclusive
	case errors.As(err, &verdict):
		return exitPass
	case errors.Is(err, errInterrupted):
		return exitInterrupted
	case errors.As(err, &usage), errors.Is(err, clusters.ErrUsage):
		return exitUsage
	case errors.Is(err, clusters.ErrUnavailable):
		return exitUnavailable
	default:
		return exitDefect
	}
}
