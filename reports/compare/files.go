package compare

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"lockcheck/checker/history"
	"lockcheck/reports/rundir"
)

// The files of a comparison's directory.
const (
	JSONFile     = "compare.json"
	HTMLFile     = "compare.html"
	MarkdownFile = "compare.md"
	JUnitFile    = "junit.xml"
	RunsDir      = "runs"
)

// WriteFiles writes all files of a comparison. What cannot be written does not keep the rest from being written, and the
// error has one line for each: a verdict is known by then, and no file changes it. project is that of Attachments.
func WriteFiles(dir string, c *Comparison, project string) error {
	files := []struct {
		name  string
		write func(io.Writer) error
	}{
		{JSONFile, c.Write},
		{HTMLFile, func(w io.Writer) error { return HTML(w, c) }},
		{MarkdownFile, func(w io.Writer) error { _, err := io.WriteString(w, Markdown(c, MaxSummary)); return err }},
		{JUnitFile, func(w io.Writer) error { return JUnit(w, c, Attachments{dir, project}) }},
	}
	var errs []error
	for _, file := range files {
		if err := rundir.WriteAtomically(filepath.Join(dir, file.name), file.write); err != nil {
			errs = append(errs, fmt.Errorf("cannot write %s: %w", filepath.Join(dir, file.name), oneLine{err}))
		}
	}
	return errors.Join(errs...)
}

// oneLine is an error, joined of several perhaps, that is said in one line.
type oneLine struct{ error }

func (e oneLine) Error() string { return strings.ReplaceAll(e.error.Error(), "\n", "; ") }

func (e oneLine) Unwrap() error { return e.error }

// WritePage writes the page as index.html in a directory, with the reports of the runs, so that both can be moved and published
// together. from is the comparison's directory.
func WritePage(dir, from string, c *Comparison) error {
	if err := os.MkdirAll(filepath.Join(dir, "reports"), 0o755); err != nil {
		return fmt.Errorf("cannot make the directory of the page: %w", err)
	}
	moved := *c
	moved.Cells = slices.Clone(c.Cells)
	for i := range moved.Cells {
		cell := &moved.Cells[i]
		cell.Runs = slices.Clone(cell.Runs)
		for n := range cell.Runs {
			run := &cell.Runs[n]
			if run.Report == "" {
				continue
			}
			there := fmt.Sprintf("reports/cell-%d-run-%d.html", i+1, n+1)
			if err := copyFile(filepath.Join(from, filepath.FromSlash(run.Report)), filepath.Join(dir, filepath.FromSlash(there))); err != nil {
				return fmt.Errorf("cannot copy the report of %v, seed %d: %w", cell.Cell, run.Seed, err)
			}
			run.Report = there
		}
	}
	name := filepath.Join(dir, "index.html")
	if err := rundir.WriteAtomically(name, func(w io.Writer) error { return HTML(w, &moved) }); err != nil {
		return fmt.Errorf("cannot write %s: %w", name, err)
	}
	return nil
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	return rundir.WriteAtomically(to, func(w io.Writer) error { _, err := io.Copy(w, in); return err })
}

// AppendSummary appends the Markdown to a file, such as a step's summary on GitHub, which other steps' words may be in
// already. The whole stays below MaxSummary.
func AppendSummary(path string, c *Comparison) (err error) {
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("cannot append the summary: %w", err)
	}
	defer func() {
		if closed := file.Close(); err == nil && closed != nil {
			err = fmt.Errorf("cannot append the summary: %w", closed)
		}
	}()
	info, err := file.Stat()
	if err != nil {
		return fmt.Errorf("cannot append the summary: %w", err)
	}
	budget := MaxSummary - info.Size()
	if budget < 2*room {
		return fmt.Errorf("cannot append the summary: %s is full, it has %s", path, history.Counted(info.Size(), "byte", "bytes"))
	}
	if _, err = io.WriteString(file, Markdown(c, int(budget))); err != nil {
		return fmt.Errorf("cannot append the summary: %w", err)
	}
	return nil
}

// ReadDir reads the comparison in a directory.
func ReadDir(dir string) (*Comparison, error) {
	name := filepath.Join(dir, JSONFile)
	file, err := os.Open(name)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%s is missing, so %s is not the directory of a comparison", name, dir)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read the comparison: %w", err)
	}
	defer file.Close()
	c, err := Read(file)
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", name, err)
	}
	return c, nil
}

// LatestLink is the link to the newest comparison, beside the comparisons' directories.
const LatestLink = "latest-compare"

const namePrefix = "compare-"

// What the directories of many runs are called, and those of their cells' runs in RunsDir.
var (
	manyName = regexp.MustCompile(`^(compare|gallery|hunt|shrink)-\d{8}T\d{6}(\.\d+)?$`)
	cellName = regexp.MustCompile(`^cell-\d+(-run-\d+)?$`)
)

// ParseName is when the comparison was started whose directory has a name; ok is false for a name that lockcheck does not give.
func ParseName(name string) (started time.Time, ok bool) { return rundir.ParseMany(namePrefix, name) }

// CellDir is the directory of a cell's runs, in that of the comparison; positions are from 0.
func CellDir(position int) string { return path.Join(RunsDir, fmt.Sprintf("cell-%d", position+1)) }

// RunDir is the directory in which a job makes its run: of its own, where others of its cell may be at work.
func (j Job) RunDir() string {
	if j.Repeat > 1 {
		return fmt.Sprintf("%s-run-%d", CellDir(j.Position), j.Attempt)
	}
	return CellDir(j.Position)
}

// IsCellDir reports whether a directory is that of the runs of one cell, or of what makes many runs in the same way.
func IsCellDir(dir string) bool {
	runs := filepath.Dir(dir)
	return cellName.MatchString(filepath.Base(dir)) && filepath.Base(runs) == RunsDir && manyName.MatchString(filepath.Base(filepath.Dir(runs)))
}

// CreateDir makes the directory of a new comparison, out/compare-<time>, and that of its runs, and points out/latest-compare at it.
func CreateDir(out string, now time.Time) (string, error) {
	return rundir.CreateMany(out, namePrefix, LatestLink, RunsDir, now)
}

// kept is a Watcher that writes compare.json after every run, so that a comparison which is killed can be gone on with.
type kept struct {
	Watcher
	c      Comparison
	dir    string
	began  time.Time
	before int64
}

// Keep tells another Watcher, too, and keeps what there is so far in the comparison's directory, as that of one that was
// interrupted. That it cannot be written is not said here: the end of the comparison tries again, and says so.
func Keep(c *Comparison, dir string, tasks []Task, watcher Watcher) Watcher {
	k := &kept{Watcher: watcher, c: *c, dir: dir, began: time.Now(), before: c.DurationNS}
	k.c.Cells, k.c.Interrupted = nil, true
	for _, t := range tasks {
		k.c.Cells = append(k.c.Cells, t.result(t.Done))
	}
	k.write()
	return k
}

// Ended keeps what came of a run before it is shown.
func (k *kept) Ended(job Job, run Run, cell Result) {
	k.c.Cells[job.Position] = cell
	k.write()
	k.Watcher.Ended(job, run, cell)
}

func (k *kept) write() {
	k.c.DurationNS = k.before + time.Since(k.began).Nanoseconds()
	k.c.Finish()
	_ = rundir.WriteAtomically(filepath.Join(k.dir, JSONFile), k.c.Write)
}
