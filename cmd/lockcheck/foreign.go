package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"lockcheck/checker/foreign/jepsen"
	"lockcheck/checker/foreign/models"
	"lockcheck/checker/history"
	"lockcheck/checker/model"
	"lockcheck/cmd/internal/harness"
)

// Formats of histories that check reads.
const (
	formatOurs   = "lockcheck"
	formatJepsen = "jepsen"
	knownFormats = formatOurs + ", " + formatJepsen
)

// foreignFlags ask check for a file of another tool in the place of a run's directory.
type foreignFlags struct {
	format, model, failedAs, initial string

	budget int
}

// maxBudget bounds what a slip of the finger can ask for.
const maxBudget = 100

func (f *foreignFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.format, "format", formatOurs, "what to judge: lockcheck (a run's directory) or jepsen (a file: history.edn, history.txt or a log)")
	cmd.Flags().StringVar(&f.model, "model", "", "with --format=jepsen, the model: "+models.Names())
	cmd.Flags().StringVar(&f.initial, "initial", "nil", "with --format=jepsen and a register, its initial value as EDN: 0, nil, '\"a\"'")
	cmd.Flags().IntVar(&f.budget, "budget", 1, fmt.Sprintf("with --format=jepsen, multiply the time and memory of the search by this factor (1 to %d; 1 takes at most about 10 s and 512 MiB)", maxBudget))
	cmd.Flags().StringVar(&f.failedAs, "read-failed-as", "fail", "how to read failed operations: fail (they did not happen) or info (they may have);\nwith info lockcheck also judges the other reading, and the report says whether the verdict depends on it")
}

// wanted reports whether a foreign file is to be judged, and by what model; an error is a flag that does not fit.
func (f *foreignFlags) wanted(cmd *cobra.Command) (*models.Model, error) {
	if f.failedAs != string(history.Fail) && f.failedAs != string(history.Info) {
		return nil, harness.Usage(fmt.Errorf("unknown --read-failed-as=%s; known are fail, info", f.failedAs))
	}
	switch f.format {
	case formatOurs:
		for _, flag := range []string{"model", "initial", "budget"} {
			if cmd.Flags().Changed(flag) {
				return nil, harness.Usage(fmt.Errorf("--%s goes with --format=%s; a run of lockcheck's own is judged by its properties", flag, formatJepsen))
			}
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
	if f.budget < 1 || f.budget > maxBudget {
		return nil, harness.Usage(fmt.Errorf("--budget=%d: use 1 to %d", f.budget, maxBudget))
	}
	if f.model == "" {
		return nil, harness.Usage(fmt.Errorf("--model is missing: what is the history of? known are %s", models.Names()))
	}
	model := models.Named(f.model)
	if model == nil {
		return nil, harness.Usage(fmt.Errorf("unknown model %q; known are %s", f.model, models.Names()))
	}
	if cmd.Flags().Changed("initial") {
		return f.begun(model)
	}
	return model, nil
}

// begun is a model that begins with the initial value.
func (f *foreignFlags) begun(model *models.Model) (*models.Model, error) {
	value, err := jepsen.ParseValue(f.initial)
	var wrong *jepsen.Mistake
	if errors.As(err, &wrong) {
		return nil, harness.Usage(fmt.Errorf("--initial=%s is no value in EDN: %s", visible(f.initial), wrong.Text))
	}
	if err == nil {
		model, err = model.BeginsAs(value)
	}
	if err != nil {
		return nil, harness.Usage(fmt.Errorf("--initial=%s: %w", visible(f.initial), err))
	}
	return model, nil
}

// foreignVerdict is what a foreign file came to; it is printed as text or as JSON.
type foreignVerdict struct {
	history  *jepsen.History
	model    *models.Model
	verdict  model.Verdict
	parts    []foreignPart // one for each key; one without a key for a history that has none
	failedAs history.Type
	steps    int // of the search
}

// foreignPart is what the history of one key came to.
type foreignPart struct {
	models.Part
	result models.Result
	// other is the other reading of what failed; nil unless it was asked for.
	other *models.Result
}

// checkForeign judges a file and returns the verdict as the error that carries its exit code.
func checkForeign(path string, against *models.Model, failedAs history.Type, budget int, out output) error {
	v, err := judgeForeign(path, against, failedAs, budget)
	if err != nil {
		return err
	}
	write := v.text
	switch {
	case out.json:
		write = v.json
	case out.quiet:
		write = v.sentence
	}
	if err := write(out.out); err != nil {
		fmt.Fprintf(out.errOut, "lockcheck: warning: cannot show the verdict: %v\n", err)
	}
	if v.verdict != model.Pass {
		return verdictError{v.verdict}
	}
	return nil
}

func judgeForeign(path string, against *models.Model, failedAs history.Type, budget int) (*foreignVerdict, error) {
	h, err := readForeign(path)
	if err != nil {
		return nil, err
	}
	v := &foreignVerdict{history: h, model: against, failedAs: failedAs, steps: budget * models.DefaultSteps}
	if err := v.judge(); err != nil {
		var wrong *jepsen.Mistake
		if errors.As(err, &wrong) {
			wrong.File = path
			return nil, harness.Usage(wrong)
		}
		return nil, err
	}
	return v, nil
}

// judge judges each key, and with failures read as unknown each a second time as it was recorded.
func (v *foreignVerdict) judge() error {
	parts, err := models.Split(v.model, v.history.Operations)
	if err != nil {
		return err
	}
	recorded, err := models.CheckEach(v.model, parts, v.steps)
	if err != nil {
		return err
	}
	results := recorded
	if v.failedAs == history.Info {
		other := slices.Clone(parts)
		for i := range other {
			other[i].Operations = jepsen.FailedAsInfo(other[i].Operations)
		}
		if results, err = models.CheckEach(v.model, other, v.steps); err != nil {
			return err
		}
	}
	for i, part := range parts {
		p := foreignPart{Part: part, result: results[i]}
		if v.failedAs == history.Info {
			p.other = &recorded[i]
		}
		v.parts = append(v.parts, p)
	}
	v.verdict = overall(results)
	return nil
}

var verdicts = map[models.Answer]model.Verdict{
	models.Legal: model.Pass, models.Illegal: model.Violation, models.Undecided: model.Inconclusive,
}

// overall is the verdict of a file: a violation of any key is never hidden by another, and a key in which there is nothing
// to judge takes nothing from what the others show. Where that is so of all there is no pass.
func overall(results []models.Result) model.Verdict {
	shown := false
	verdict := model.Pass
	for _, r := range results {
		switch {
		case r.Answer == models.Illegal:
			return model.Violation
		case r.Answer == models.Legal:
			shown = true
		case !r.Untested:
			verdict = model.Inconclusive
		}
	}
	if !shown {
		return model.Inconclusive
	}
	return verdict
}

// readForeign reads a file; an error in it is its user's mistake, and never a verdict.
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
