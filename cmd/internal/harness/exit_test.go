package harness

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"lockcheck/checker/history"
	"lockcheck/clusters"
	"lockcheck/reports/rundir"
)

// A directory for runs that cannot be written to is something that is not there, whoever calls it a mistake.
func TestAPlaceThatCannotBeWrittenToIsUnavailable(t *testing.T) {
	for want, err := range map[int]error{
		ExitUnavailable: Usage(fmt.Errorf("--out: %w", &fs.PathError{Op: "mkdir", Path: "x", Err: syscall.EROFS})),
		ExitUsage:       Usage(fmt.Errorf("--file: %w", &fs.PathError{Op: "open", Path: "x", Err: syscall.EACCES})),
	} {
		if got := ExitCode(err); got != want {
			t.Errorf("%v: exit %d, want %d", err, got, want)
		}
	}
	if got := ExitCode(Usage(&fs.PathError{Op: "mkdir", Path: "x", Err: syscall.EACCES})); got != ExitUnavailable {
		t.Errorf("exit %d, want %d", got, ExitUnavailable)
	}
}

// What an interrupted run says of judging it is true: before its plan was written there is nothing to judge.
func TestAnInterruptedRunThatHasNoPlanIsNotSaidToBeJudged(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	plan := history.Plan{Backend: "etcd", Tokens: history.TokensOrdered}
	dir, err := rundir.Create(t.TempDir(), plan, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir.HistoryPath(), []byte("{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const says = "judges what was recorded"
	if said := unfinished(ctx, dir, context.Canceled); strings.Contains(said.Error(), says) || !strings.Contains(said.Error(), dir.Path()) {
		t.Errorf("without a plan it says: %v", said)
	}
	if err := dir.WritePlan(plan); err != nil {
		t.Fatal(err)
	}
	if said := unfinished(ctx, dir, context.Canceled); !strings.Contains(said.Error(), says) {
		t.Errorf("with one it says: %v", said)
	}
}

// A run that was interrupted says what it could not remove, and nothing of how it was interrupted.
func TestAnInterruptedRunSaysWhatIsLeft(t *testing.T) {
	left := fmt.Errorf("%w: redis at 10.0.0.9: %w; this removes them: lockcheck clean", clusters.ErrLeft, errors.New("no answer"))
	got := leftIn(errors.Join(fmt.Errorf("load: %w", context.Canceled), errors.Join(nil, left)))
	if got == nil || !strings.Contains(got.Error(), "this removes them: lockcheck clean") || strings.Contains(got.Error(), "load") {
		t.Errorf("%v", got)
	}
	if got := leftIn(context.Canceled); got != nil {
		t.Errorf("nothing is left, but it says %v", got)
	}
	if code := ExitCode(errors.Join(ErrInterrupted, left)); code != ExitInterrupted {
		t.Errorf("exit code %d", code)
	}
}
