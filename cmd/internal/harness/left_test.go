package harness

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"lockcheck/clusters"
)

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
