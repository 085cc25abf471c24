package harness

import (
	"errors"
	"syscall"

	"lockcheck/clusters"
	"lockcheck/reports"
)

// Exit codes of what came to no verdict, as the README promises them.
const (
	ExitUsage       = 64
	ExitUnavailable = 69
	ExitDefect      = 70
	ExitInterrupted = 130
)

// ErrInterrupted ends a run that the user stopped.
var ErrInterrupted = errors.New("interrupted")

// usageError is clusters.ErrUsage without its words.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func (e usageError) Is(target error) bool { return target == clusters.ErrUsage }

// Usage makes an error the mistake of whoever asked.
func Usage(err error) error { return usageError{err} }

// AsUsage makes what is wrong with the user's files the user's mistake, and leaves all else a defect.
func AsUsage(err error) error {
	var input *reports.InputError
	if errors.As(err, &input) {
		return Usage(err)
	}
	return err
}

// Ended is the exit code of another process that did the work, which has said all there is to say.
type Ended int

func (e Ended) Error() string { return "" }

// ExitCode is what an error that is no verdict means for a pipeline. Room on a disk is something that is needed, like a
// server's program: that it is not there is neither the user's mistake nor lockcheck's.
func ExitCode(err error) int {
	var ended Ended
	switch {
	case errors.As(err, &ended):
		return int(ended)
	case errors.Is(err, ErrInterrupted):
		return ExitInterrupted
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return ExitUnavailable
	case errors.Is(err, clusters.ErrUsage):
		return ExitUsage
	case errors.Is(err, clusters.ErrUnavailable):
		return ExitUnavailable
	}
	return ExitDefect
}
