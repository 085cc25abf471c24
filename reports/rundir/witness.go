package rundir

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"regexp"

	"lockcheck/checker"
	"lockcheck/checker/explain"
	"lockcheck/checker/history"
	"lockcheck/checker/model"
)

// WitnessesFolder is where the witnesses of findings are kept, a run directory each.
const WitnessesFolder = "witnesses"

// WriteWitnesses writes the witnesses of the first findings of each property, in place of those that an earlier judgement
// left, and says in the findings where they are. A finding names its witness only once that is written. They are only searched for where
// there is something to prove, and room to write it.
func (d *Dir) WriteWitnesses(j Judgement, search func() ([]explain.Witness, error)) error {
	if err := d.removeWitnesses(); err != nil {
		return fmt.Errorf("cannot replace the witnesses of findings: %w", err)
	}
	if j.Result.Verdict != model.Violation || j.Plan.Excerpt != nil {
		return nil
	}
	if err := os.MkdirAll(d.file(WitnessesFolder), 0o755); err != nil { // before the work that would be for nothing
		return fmt.Errorf("cannot write the witnesses of findings: %w", err)
	}
	witnesses, err := search()
	if err != nil {
		return fmt.Errorf("cannot make the witnesses of findings: %w", err)
	}
	for i := range witnesses {
		w := &witnesses[i]
		f := findingNamed(j.Result, w.Finding)
		switch {
		case f == nil:
		case w.Missing != "":
			f.NoWitness = w.Missing
		default:
			if err := d.writeWitness(w); err != nil {
				return fmt.Errorf("cannot write the witness of %s: %w", w.Finding, err)
			}
			f.Witness = path.Join(WitnessesFolder, w.Finding)
		}
	}
	return nil
}

func (d *Dir) writeWitness(w *explain.Witness) error {
	dir := &Dir{path: d.file(path.Join(WitnessesFolder, w.Finding))}
	if err := os.Mkdir(dir.path, 0o755); err != nil {
		return err
	}
	err := WriteAtomically(dir.HistoryPath(), func(out io.Writer) error {
		lines := history.NewWriter(out)
		for _, e := range w.Events {
			if err := lines.Event(e); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	err = WriteAtomically(dir.ResourcePath(), func(out io.Writer) error {
		lines := history.NewWriter(out)
		for _, q := range w.Requests {
			if err := lines.Request(q); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return dir.WritePlan(w.Plan)
}

// witnessName is a finding's id: other files beside the witnesses are not ours.
var witnessName = regexp.MustCompile(`^([a-z-]+)-[1-9][0-9]*$`)

func (d *Dir) removeWitnesses() error {
	entries, err := os.ReadDir(d.file(WitnessesFolder))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, entry := range entries {
		if name := witnessName.FindStringSubmatch(entry.Name()); name != nil && entry.IsDir() && isProperty(name[1]) {
			err = errors.Join(err, os.RemoveAll(d.file(path.Join(WitnessesFolder, entry.Name()))))
		}
	}
	if err == nil && len(entries) == 0 {
		err = os.Remove(d.file(WitnessesFolder))
	}
	return err
}

func isProperty(name string) bool {
	for _, n := range checker.Names() {
		if string(n) == name {
			return true
		}
	}
	return false
}

func findingNamed(r *model.Result, id string) *model.Finding {
	for i := range r.Properties {
		for k := range r.Properties[i].Findings {
			if f := &r.Properties[i].Findings[k]; f.ID == id {
				return f
			}
		}
	}
	return nil
}
