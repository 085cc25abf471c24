package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"lockcheck/checker"
	"lockcheck/checker/history"
	"lockcheck/checker/history/jepsen"
	"lockcheck/checker/models"
	"lockcheck/cmd/harness"
)

// Formats of histories that check reads.
const (
	formatOurs   = "lockcheck"
	formatJepsen = "jepsen"
	knownFormats = formatOurs + ", " + formatJepsen
)

// foreignFlags ask check for a file of another tool in the place of a run's directory.
type foreignFlags struct {
	format, model, failedAs string
}

func (f *foreignFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.format, "format", formatOurs, "what is judged: lockcheck (a run's directory) or jepsen (a file: history.edn, history.txt or a log)")
	cmd.Flags().StringVar(&f.model, "model", "", "with --format=jepsen, what the history is held against: "+models.Names())
	cmd.Flags().StringVar(&f.failedAs, "read-failed-as", "fail", "how operations that failed are read: fail (they did not happen) or info (they may have);\nwith info the other reading is judged, too, and the report says whether the verdict depends on it")
}

// wanted tells whether a foreign file is to be judged, and by what model; an error is a flag that does not fit.
func (f *foreignFlags) wanted(cmd *cobra.Command) (*models.Model, error) {
	if f.failedAs != string(history.Fail) && f.failedAs != string(history.Info) {
		return nil, harness.Usage(fmt.Errorf("unknown --read-failed-as=%s; known are fail, info", f.failedAs))
	}
	switch f.format {
	case formatOurs:
		if cmd.Flags().Changed("model") {
			return nil, harness.Usage(fmt.Errorf("--model goes with --format=%s; a run of lockcheck's own is judged by its properties", formatJepsen))
		}
		return nil, nil
	case formatJepsen:
	default:
		return nil, harness.Usage(fmt.Errorf("unknown format %q; known are %s", f.format, knownFormats))
	}
	if cmd.Flags().Changed("property") {
		return nil, harness.Usage(fmt.Errorf("--property goes with --format=%s; a history of another tool is judged by a --model: %s", formatOurs, models.Names()))
	}
	if cmd.Flags().Changed("partial") {
		return nil, harness.Usage(fmt.Errorf("--partial goes with --format=%s; what is unfinished in a history of another tool is of unknown outcome anyway", formatOurs))
	}
	if f.model == "" {
		return nil, harness.Usage(fmt.Errorf("--model is missing: what is the history of? known are %s", models.Names()))
	}
	model := models.Named(f.model)
	if model == nil {
		return nil, harness.Usage(fmt.Errorf("unknown model %q; known are %s", f.model, models.Names()))
	}
	return model, nil
}

// foreignVerdict is what a foreign file came to; it is printed as text or as JSON.
type foreignVerdict struct {
	history  *jepsen.History
	verdict  checker.Verdict
	result   models.Result
	failedAs history.Type
	// other is the other reading of what failed; nil unless it was asked for.
	other *models.Result
}

// checkForeign judges a file and returns the verdict as the error that carries its exit code.
func checkForeign(path string, model *models.Model, failedAs history.Type, how shown) error {
	v, err := judgeForeign(path, model, failedAs)
	if err != nil {
		return err
	}
	write := v.text
	switch {
	case how.json:
		write = v.json
	case how.quiet:
		write = v.sentence
	}
	if err := write(how.out); err != nil {
		fmt.Fprintf(how.errOut, "lockcheck: warning: cannot show the verdict: %v\n", err)
	}
	if v.verdict != checker.Pass {
		return verdictError{v.verdict}
	}
	return nil
}

func judgeForeign(path string, model *models.Model, failedAs history.Type) (*foreignVerdict, error) {
	h, err := readForeign(path)
	if err != nil {
		return nil, err
	}
	judged := func(ops []jepsen.Operation) (models.Result, error) {
		result, err := models.Check(model, ops, models.DefaultSteps)
		var wrong *jepsen.Mistake
		if errors.As(err, &wrong) {
			wrong.File = path
			return result, harness.Usage(wrong)
		}
		return result, err
	}
	v := &foreignVerdict{history: h, failedAs: failedAs}
	if v.result, err = judged(h.Operations); err != nil {
		return nil, err
	}
	if failedAs == history.Info {
		as := v.result
		v.other = &as
		if v.result, err = judged(jepsen.FailedAsInfo(h.Operations)); err != nil {
			return nil, err
		}
	}
	v.verdict = verdicts[v.result.Answer]
	return v, nil
}

var verdicts = map[models.Answer]checker.Verdict{
	models.Legal: checker.Pass, models.Illegal: checker.Violation, models.Undecided: checker.Inconclusive,
}

// readForeign reads a file; whatever is wrong with it is its user's mistake, and never a verdict.
func readForeign(path string) (*jepsen.History, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, harness.Usage(fmt.Errorf("cannot read a history: %w", err))
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, harness.Usage(fmt.Errorf("cannot read a history: %w", err))
	}
	if info.IsDir() {
		return nil, harness.Usage(fmt.Errorf("%s is a directory; --format=%s takes a file, such as %s/history.edn (a run of lockcheck's own is judged without --format)", path, formatJepsen, path))
	}
	h, err := jepsen.Read(io.Reader(file), path)
	if err != nil {
		return nil, harness.Usage(err)
	}
	return h, nil
}
