package rundir

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"lockcheck/checker/history"
)

// WritePlan writes plan.json. It may be called again when more of the plan is known.
func (d *Dir) WritePlan(plan history.Plan) error {
	plan.Version = history.FormatVersion
	err := WriteAtomically(d.file(PlanFile), func(w io.Writer) error { return history.WritePlan(w, plan) })
	if err != nil {
		return fmt.Errorf("cannot write the plan of the run: %w", err)
	}
	return nil
}

// ReadPlan reads plan.json. Its errors are InputErrors that name the file and, where there is one, the line.
func (d *Dir) ReadPlan() (history.Plan, error) {
	file, err := os.Open(d.file(PlanFile))
	if errors.Is(err, os.ErrNotExist) {
		return history.Plan{}, inputErrorf("%s is missing, so %s is not a run directory, such as lockcheck-out/latest", d.file(PlanFile), d.path)
	}
	if err != nil {
		return history.Plan{}, inputErrorf("cannot read the plan of the run: %w", err)
	}
	defer file.Close()
	plan, err := history.ReadPlan(file, file.Name())
	if err != nil {
		return plan, &InputError{err}
	}
	return plan, nil
}

// EncodeIndented writes JSON that people read, too.
func EncodeIndented(w io.Writer, value any) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false) // these files are read by people and by jq, never by a browser
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}
