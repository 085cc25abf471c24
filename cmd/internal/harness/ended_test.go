package harness

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"lockcheck/checker/history"
	"lockcheck/reports/rundir"
)

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
	if said := ended(ctx, dir, context.Canceled); strings.Contains(said.Error(), says) || !strings.Contains(said.Error(), dir.Path()) {
		t.Errorf("without a plan it says: %v", said)
	}
	if err := dir.WritePlan(plan); err != nil {
		t.Fatal(err)
	}
	if said := ended(ctx, dir, context.Canceled); !strings.Contains(said.Error(), says) {
		t.Errorf("with one it says: %v", said)
	}
}
