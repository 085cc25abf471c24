package harness

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"lockcheck/clusters"
	"lockcheck/reports/rundir"
	"lockcheck/reports/words"
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

// Usage makes an error a mistake of the user.
func Usage(err error) error { return usageError{err} }

// AsUsage makes what is wrong with the user's files the user's mistake, and leaves all else a defect.
func AsUsage(err error) error {
	var input *rundir.InputError
	if errors.As(err, &input) {
		return Usage(err)
	}
	return err
}

// ExitStatus is the exit code of another process that did the work, which has said all there is to say.
type ExitStatus int

func (e ExitStatus) Error() string { return "" }

// refusedDirectory reports whether a directory could not be made for want of permission.
func refusedDirectory(err error) bool {
	var of *fs.PathError
	return errors.As(err, &of) && of.Op == "mkdir" && errors.Is(of, fs.ErrPermission)
}

// ExitCode is what an error that is no verdict means for a pipeline. Room on a disk, and a place that can be written to, are something
// that is needed, like a server's program: that they are not there is neither the user's mistake nor lockcheck's.
func ExitCode(err error) int {
	var ended ExitStatus
	switch {
	case errors.As(err, &ended):
		return int(ended)
	case errors.Is(err, ErrInterrupted):
		return ExitInterrupted
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT), errors.Is(err, syscall.EROFS), refusedDirectory(err):
		return ExitUnavailable
	case errors.Is(err, clusters.ErrUsage):
		return ExitUsage
	case errors.Is(err, clusters.ErrUnavailable):
		return ExitUnavailable
	}
	return ExitDefect
}

// unfinished explains a run that was not completed. Its history is kept and can be checked: what is in it may be a violation,
// but it cannot be a pass.
func unfinished(ctx context.Context, dir *rundir.Dir, err error) error {
	kept := dir.Kept()
	if ctx.Err() != nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.Cause(ctx))) {
		err = errors.Join(ErrInterrupted, leftIn(err))
	}
	switch {
	case kept != "":
	case errors.Is(err, clusters.ErrLeft):
		kept = "what there is to know of it" // lockcheck clean goes by that
	default:
		return errors.Join(err, dir.Discard())
	}
	err = fmt.Errorf("%w\n%s are kept in %s", err, kept, dir.Path())
	if _, unplanned := dir.ReadPlan(); errors.Is(err, ErrInterrupted) && unplanned == nil && dir.Recorded() > 0 { // the load had begun
		err = fmt.Errorf("%w\n%s judges what was recorded: it can show a violation, never a pass", err, words.ShellWords([]string{"lockcheck", "check", dir.Path()}))
	}
	return err
}

// leftIn is the part of an error that says what could not be removed; nil if none does.
func leftIn(err error) error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok && errors.Is(err, clusters.ErrLeft) {
		for _, part := range joined.Unwrap() {
			if part != clusters.ErrLeft && errors.Is(part, clusters.ErrLeft) {
				return leftIn(part)
			}
		}
	}
	if errors.Is(err, clusters.ErrLeft) {
		return err
	}
	return nil
}
