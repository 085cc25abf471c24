package locktest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"lockcheck/checker"
	"lockcheck/cmd/harness"
	"lockcheck/reports"
)

// runRole makes a run and tells on standard output what came of it.
const runRole = "make-run"

// told is what came of a run.
type told struct {
	Error   string          `json:"error,omitempty"` // why there is no verdict
	Dir     string          `json:"dir,omitempty"`
	Failure string          `json:"failure,omitempty"` // of a run that was judged and did not pass
	Results reports.Results `json:"results"`
}

// runAndTell is runRole. Whatever keeps files from being written, the verdict is told.
func runAndTell(ctx context.Context, args []string) error {
	var options harness.Options
	if len(args) != 1 {
		return harness.Usage(fmt.Errorf("%s takes the options of a run", runRole))
	}
	if err := json.Unmarshal([]byte(args[0]), &options); err != nil {
		return harness.Usage(fmt.Errorf("%s: %w", runRole, err))
	}
	outcome, err := harness.Run(ctx, options, false)
	var ended harness.Ended
	switch {
	case errors.As(err, &ended): // by another process, which has told
		return err
	case err != nil:
		_ = tell(told{Error: err.Error()})
		return harness.Ended(harness.ExitCode(err))
	}
	now := time.Now()
	if err := outcome.Dir.Publish(outcome.Judgement, now); err != nil {
		fmt.Fprintf(os.Stderr, "warning: %v\n", err)
	}
	verdict := told{Dir: outcome.Dir.Path(), Results: reports.NewResults(outcome.Judgement, now)}
	if outcome.Judgement.Result.Verdict != checker.Pass {
		var text strings.Builder
		reports.Failure(&text, outcome.Judgement, outcome.Dir)
		verdict.Failure = text.String()
	}
	return tell(verdict)
}

func tell(what told) error {
	if err := json.NewEncoder(os.Stdout).Encode(what); err != nil {
		return fmt.Errorf("telling what came of the run: %w", err)
	}
	return nil
}

// maxComplaint bounds what is quoted of a run that ended without a word, in bytes.
const maxComplaint = 4 << 10

// noVerdict is why a run came to none.
type noVerdict struct {
	code int
	text string
}

func (e noVerdict) Error() string {
	return "lockcheck: the run came to no verdict: " + inFields(e.text)
}

// unavailable tells whether something that a run needs was not there.
func unavailable(err error) bool {
	var none *noVerdict
	return errors.As(err, &none) && none.code == harness.ExitUnavailable
}

// self is this program, whatever has become of its file since it was started: go test removes it early.
const self = "/proc/self/exe"

// ask has a process of its own make a run. Its progress goes to log.
func ask(ctx context.Context, options harness.Options, log io.Writer) (*told, error) {
	text, err := json.Marshal(options)
	if err != nil {
		return nil, err
	}
	cmd := harness.Process(ctx, self, runRole, string(text))
	var stdout bytes.Buffer
	complaint := &harness.Tail{Most: maxComplaint}
	cmd.Stdout, cmd.Stderr = &stdout, io.MultiWriter(log, complaint)
	if err := harness.RunProcess(cmd); cmd.ProcessState == nil {
		return nil, fmt.Errorf("lockcheck: the run cannot be started: %w", err)
	}
	var answer told
	err = json.Unmarshal(stdout.Bytes(), &answer)
	switch code := cmd.ProcessState.ExitCode(); {
	case err == nil && answer.Error != "":
		return nil, &noVerdict{code, answer.Error}
	case err != nil || code != 0:
		return nil, &noVerdict{code, fmt.Sprintf("the run ended without a word (%v):\n%s", cmd.ProcessState, strings.TrimSpace(complaint.String()))}
	}
	// A pass is one only if both say so.
	if passed := answer.Results.Verdict == checker.Pass; passed != (answer.Failure == "") {
		return nil, fmt.Errorf("lockcheck: the run contradicts itself: its verdict is %q, its failure %q", answer.Results.Verdict, answer.Failure)
	}
	return &answer, nil
}

// forget removes the directory of the run, and the link to the newest run if it leads there.
func (t *told) forget() error {
	latest := filepath.Join(filepath.Dir(t.Dir), "latest")
	var err error
	if now, _ := os.Readlink(latest); now == filepath.Base(t.Dir) {
		err = os.Remove(latest)
	}
	err = errors.Join(err, os.RemoveAll(t.Dir))
	_ = os.Remove(filepath.Dir(t.Dir)) // if nothing else is in it
	return err
}
