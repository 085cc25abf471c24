package rundir

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path"
	"regexp"

	"lockcheck/checker"
	"lockcheck/checker/history"
)

// WitnessesFolder is where the witnesses of findings are kept, a run directory each.
const WitnessesFolder = "witnesses"

// WriteWitnesses writes the witnesses of the first findings of each property, in place of those that an earlier judgement
// left, and says in the findings where they are. A finding names its witness only once that is written.
func (d *Dir) WriteWitnesses(j Judgement) error {
	if err := d.removeWitnesses(); err != nil {
		return fmt.Errorf("cannot replace the witnesses of findings: %w", err)
	}
	if j.Result.Verdict != checker.Violation || j.Plan.Excerpt != nil {
		return nil
	}
	if err := os.MkdirAll(d.file(WitnessesFolder), 0o755); err != nil { // before the work that would be for nothing
		return fmt.Errorf("cannot write the witnesses of findings: %w", err)
	}
	witnesses, err := checker.Witnesses(d.recording(j.Plan), j.Result, j.Model, checker.Options{FailedAs: j.Result.OutcomeReading.FailedAs})
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

func (d *Dir) writeWitness(w *checker.Witness) error {
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

func findingNamed(r *checker.Result, id string) *checker.Finding {
	for i := range r.Properties {
		for k := range r.Properties[i].Findings {
			if f := &r.Properties[i].Findings[k]; f.ID == id {
				return f
			}
		}
	}
	return nil
}

// recording is what the run recorded, as far as whole lines go. Its files are opened whenever they are ranged over.
func (d *Dir) recording(plan history.Plan) checker.Recording {
	from := d
	if d.recorded != nil {
		from = d.recorded
	}
	return checker.Recording{
		Plan:     plan,
		Events:   reread(from, HistoryFile, history.Events),
		Requests: reread(from, ResourceFile, history.Requests),
	}
}

func reread[T any](d *Dir, name string, read func(io.Reader, string) iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		file, err := d.openWhole(name)
		if err != nil {
			var none T
			yield(none, err)
			return
		}
		defer file.Close()
		read(file, file.Name())(yield)
	}
}
