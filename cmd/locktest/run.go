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

	"lockcheck/checker/model"
	"lockcheck/cmd/internal/harness"
	"lockcheck/reports"
	"lockcheck/reports/rundir"
	"lockcheck/reports/terminal"
)

// runRole makes a run and writes its outcome to standard output.
const runRole = "make-run"

// runOutcome is the outcome of a run, as one process passes it to the other.
type runOutcome struct {
	Error   string         `json:"error,omitempty"` // why there is no verdict
	Dir     string         `json:"dir,omitempty"`
	Failure string         `json:"failure,omitempty"` // of a run that was judged and did not pass
	Results rundir.Results `json:"results"`
}

// runAndReport is runRole. The verdict is reported even if files cannot be written.
func runAndReport(ctx context.Context, args []string) error {
	var options harness.Options
	if len(args) != 1 {
		return harness.Usage(fmt.Errorf("%s takes the options of a run", runRole))
	}
	if err := json.Unmarshal([]byte(args[0]), &options); err != nil {
		return harness.Usage(fmt.Errorf("%s: %w", runRole, err))
	}
	err := harness.Run(ctx, options, false, reportVerdict)
	var ended harness.ExitStatus
	switch {
	case err == nil, errors.As(err, &ended): // the latter by another process, which has reported it
		return err
	}
	_ = report(runOutcome{Error: err.Error()})
	return harness.ExitStatus(harness.ExitCode(err))
}

func reportVerdict(dir *rundir.Dir, j rundir.Judgement) error {
	now := time.Now()
	if err := reports.Publish(dir, j, now); err != nil {
		fmt.Fprintf(os.Stderr, "warning: %v\n", err)
	}
	verdict := runOutcome{Dir: dir.Path(), Results: rundir.NewResults(j, now)}
	if j.Result.Verdict != model.Pass {
		var text strings.Builder
		terminal.Failure(&text, j, dir)
		verdict.Failure = text.String()
	}
	return report(verdict)
}

func report(what runOutcome) error {
	if err := json.NewEncoder(os.Stdout).Encode(what); err != nil {
		return fmt.Errorf("reporting the outcome of the run: %w", err)
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

// unavailable reports whether something that a run needs was not there.
func unavailable(err error) bool {
	var none *noVerdict
	return errors.As(err, &none) && none.code == harness.ExitUnavailable
}

// ask has a process of its own make a run. Its progress goes to log.
func ask(ctx context.Context, options harness.Options, log io.Writer) (*runOutcome, error) {
	text, err := json.Marshal(options)
	if err != nil {
		return nil, err
	}
	self, err := harness.Self()
	if err != nil {
		return nil, err
	}
	cmd := harness.Process(ctx, self, runRole, string(text))
	var stdout bytes.Buffer
	complaint := &harness.Tail{Max: maxComplaint}
	cmd.Stdout, cmd.Stderr = &stdout, io.MultiWriter(log, complaint)
	if err := harness.RunProcess(cmd); cmd.ProcessState == nil {
		return nil, fmt.Errorf("lockcheck: the run cannot be started: %w", err)
	}
	var answer runOutcome
	err = json.Unmarshal(stdout.Bytes(), &answer)
	switch code := cmd.ProcessState.ExitCode(); {
	case err == nil && answer.Error != "":
		return nil, &noVerdict{code, answer.Error}
	case err != nil || code != 0:
		return nil, &noVerdict{code, fmt.Sprintf("the run ended without a word (%v):\n%s", cmd.ProcessState, strings.TrimSpace(complaint.String()))}
	}
	// A pass is one only if both say so.
	if passed := answer.Results.Verdict == model.Pass; passed != (answer.Failure == "") {
		return nil, fmt.Errorf("lockcheck: the run contradicts itself: its verdict is %q, its failure %q", answer.Results.Verdict, answer.Failure)
	}
	return &answer, nil
}

// forget removes the directory of the run, and the link to the newest run if it leads there.
func (t *runOutcome) forget() error {
	latest := filepath.Join(filepath.Dir(t.Dir), "latest")
	var err error
	if now, _ := os.Readlink(latest); now == filepath.Base(t.Dir) {
		err = os.Remove(latest)
	}
	err = errors.Join(err, os.RemoveAll(t.Dir))
	_ = rundir.RemoveOut(filepath.Dir(t.Dir)) // if nothing else is in it
	return err
}
