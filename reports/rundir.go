// Package reports turns a run into what people and programs read: the run directory, the lines on a terminal,
// results.json and report.html. It judges nothing itself and never looks at a cluster: everything it says comes from
// the files of a run directory, so that it can be said again later and elsewhere.
package reports

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"lockcheck/checker/history"
)

// The files of a run directory.
const (
	PlanFile     = "plan.json"
	HistoryFile  = "history.jsonl"
	ResourceFile = "resource.jsonl"
	ResultsFile  = "results.json"
	ReportFile   = "report.html"
	nodesDir     = "nodes"
	latestLink   = "latest"
)

// Dir is the directory of one run.
type Dir struct {
	path     string
	recorded *Dir   // where the recording is; nil if here
	before   string // what the link to the newest run said before this one; "" if there was none
}

// InputError is a fault of what the user handed in: a directory that is none of ours, a file that is missing, cut short
// or malformed. Its message names the file, and the line where there is one. It means exit code 64.
type InputError struct{ Err error }

func (e *InputError) Error() string { return e.Err.Error() }

func (e *InputError) Unwrap() error { return e.Err }

func inputErrorf(format string, args ...any) error { return &InputError{fmt.Errorf(format, args...)} }

// Create makes the directory of a new run, out/<time>-<backend>-<workload>-<nemesis>-<seed>, and points out/latest at
// it. A directory that exists is never used again: a run started in the same second gets a number behind its name.
func Create(out string, plan history.Plan, now time.Time) (*Dir, error) {
	if err := os.MkdirAll(out, 0o755); err != nil {
		return nil, inputErrorf("cannot make the directory for runs: %w", err)
	}
	latest := filepath.Join(out, latestLink)
	if info, err := os.Lstat(latest); err == nil && info.Mode()&fs.ModeSymlink == 0 {
		return nil, inputErrorf("%s is not a link that lockcheck made; move it away or choose another --out", latest)
	}
	name := runName(plan, now)
	path, err := makeNew(out, name)
	if err != nil {
		return nil, inputErrorf("cannot make a run directory: %w", err)
	}
	d := &Dir{path: path}
	if err := os.Mkdir(d.NodesDir(), 0o755); err != nil {
		return nil, fmt.Errorf("cannot make the directory for the servers' logs: %w", err)
	}
	d.before, _ = os.Readlink(latest)
	if err := relink(latest, filepath.Base(path)); err != nil {
		return nil, fmt.Errorf("cannot point %s at the new run: %w", latest, err)
	}
	return d, nil
}

// Kept says what an unfinished run has left in its directory; "" for nothing.
func (d *Dir) Kept() string {
	logs, _ := os.ReadDir(d.NodesDir())
	_, err := os.Stat(d.HistoryPath())
	switch {
	case err == nil:
		return "what was recorded and the servers' logs"
	case len(logs) > 0:
		return "the servers' logs"
	}
	return ""
}

// Discard removes the directory of a run of which nothing was kept, and points to the run before it as the newest again.
func (d *Dir) Discard() error {
	latest := filepath.Join(filepath.Dir(d.path), latestLink)
	if now, err := os.Readlink(latest); err == nil && now == filepath.Base(d.path) {
		if d.before == "" {
			err = os.Remove(latest)
		} else {
			err = relink(latest, d.before)
		}
		if err != nil {
			return err
		}
	}
	return errors.Join(os.Remove(d.NodesDir()), os.Remove(d.path))
}

// maxSameSecond bounds how many runs may start in one directory in one second.
const maxSameSecond = 1000

func makeNew(out, name string) (string, error) {
	for n := 1; n <= maxSameSecond; n++ {
		path := filepath.Join(out, name)
		if n > 1 {
			path = fmt.Sprintf("%s.%d", path, n)
		}
		err := os.Mkdir(path, 0o755) // fails if it exists, which is what keeps two runs apart
		if err == nil || !errors.Is(err, fs.ErrExist) {
			return path, err
		}
	}
	return "", fmt.Errorf("%d runs named %s exist already in %s", maxSameSecond, name, out)
}

func runName(plan history.Plan, now time.Time) string {
	return fmt.Sprintf("%s-%s-%s-%s-%d", now.Format("20060102T150405"), pathWord(plan.Backend), pathWord(plan.Workload),
		pathWord(plan.Nemesis), plan.Seed)
}

// maxPathWord keeps a long list of faults from making a name that file systems refuse.
const maxPathWord = 48

// pathWord keeps what is harmless in a file's name on every system and in every shell.
func pathWord(s string) string {
	word := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '.', r == '_', r == '+':
			return r
		case r == ',':
			return '+'
		}
		return '_'
	}, s)
	if len(word) > maxPathWord {
		word = word[:maxPathWord]
	}
	if word == "" {
		return "_"
	}
	return word
}

// relink replaces a link in one step, so that nobody ever finds it missing. The target is relative: the tree can be moved.
func relink(link, target string) error {
	temporary := fmt.Sprintf("%s.%s.new", link, target)
	if err := os.Symlink(target, temporary); err != nil {
		return err
	}
	if err := os.Rename(temporary, link); err != nil {
		return errors.Join(err, os.Remove(temporary))
	}
	return nil
}

// Open finds an existing run directory. Links are followed once, so that a new run that moves out/latest in the
// meantime does not mix two runs.
func Open(path string) (*Dir, error) {
	resolved, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, inputErrorf("there is no run directory %s; runs are in lockcheck-out, or where --out said", path)
	}
	if err != nil {
		return nil, inputErrorf("cannot open the run directory %s: %w", path, err)
	}
	info, err := os.Stat(resolved)
	if err != nil {
		return nil, inputErrorf("cannot open the run directory %s: %w", path, err)
	}
	if !info.IsDir() {
		return nil, inputErrorf("%s is a file; give the run directory it is in", path)
	}
	return &Dir{path: resolved}, nil
}

func (d *Dir) file(name string) string { return filepath.Join(d.path, name) }

// name is what the directory is called, whatever way led to it.
func (d *Dir) name() string {
	if d.recorded != nil {
		return filepath.Join(d.recorded.name(), filepath.Base(d.path))
	}
	if whole, err := filepath.Abs(d.path); err == nil {
		return filepath.Base(whole)
	}
	return filepath.Base(d.path)
}

// Path is the directory itself.
func (d *Dir) Path() string { return d.path }

// HistoryPath is where the events of the run are recorded.
func (d *Dir) HistoryPath() string { return d.file(HistoryFile) }

// ResourcePath is where the protected resource writes its log.
func (d *Dir) ResourcePath() string { return d.file(ResourceFile) }

// ReportPath is where WriteReport writes.
func (d *Dir) ReportPath() string { return d.file(ReportFile) }

// NodesDir is where the servers' and clients' logs go, one directory each.
func (d *Dir) NodesDir() string { return d.file(nodesDir) }
