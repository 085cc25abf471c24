package main

import (
	"errors"

	"lockcheck/checker/model"
	"lockcheck/cmd/internal/harness"
)

// Exit codes, as the README promises them.
const (
	exitPass         = 0
	exitViolation    = 1
	exitInconclusive = 2
	exitUnmet        = 3 // compare only
	exitUsage        = harness.ExitUsage
	exitUnavailable  = harness.ExitUnavailable
	exitDefect       = harness.ExitDefect
	exitInterrupted  = harness.ExitInterrupted
)

// verdictError carries a verdict that is not a pass to the exit code; the report has said the rest.
type verdictError struct{ verdict model.Verdict }

func (e verdictError) Error() string { return "" }

func exitCode(err error) int {
	var verdict verdictError
	switch {
	case err == nil:
		return exitPass
	case errors.As(err, &verdict) && verdict.verdict == model.Violation:
		return exitViolation
	case errors.As(err, &verdict) && verdict.verdict == model.Inconclusive:
		return exitInconclusive
	case errors.As(err, &verdict):
		return exitPass
	}
	return harness.ExitCode(err)
}
