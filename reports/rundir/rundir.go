// Package rundir is the directory of a run: what it is called, what is in it, and results.json, which programs read. Every file of it is replaced in one step or left as it was.
//
//	lockcheck-out/
//	  20260102T030405-etcd-lock-pause-7/
//	    plan.json  history.jsonl  resource.jsonl  nodes/<name>/*.log     the recording
//	    results.json  report.html  witnesses/<finding>/                  what was made of it
//	    failed-as-info/                                                  the same of another reading
//	  latest                                                             a link to the newest
package rundir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"time"

	"lockcheck/checker/history"
)

// DefaultOut is the directory of all runs where no other is named.
const DefaultOut = "lockcheck-out"

// The files of a run directory.
const (
	PlanFile     = "plan.json"
	HistoryFile  = "history.jsonl"
	ResourceFile = "resource.jsonl"
	ResultsFile  = "results.json"
	ReportFile   = "report.html"
	// LatestLink is the link to the newest run, beside the runs' directories.
	LatestLink = "latest"
)

// NodesFolder is the folder of a run directory in which the logs of servers and clients are, a folder each.
const NodesFolder = "nodes"

// Dir is the directory of one run.
type Dir struct {
	path     string
	recorded *Dir   // where the recording is; nil if here
	before   string // what the link to the newest run said before this one; "" if there was none
	release  func() // kept, as what holds the directory of a run at work would else be collected; nil if it is not held
}

// ErrHeld says that another process is at work on a directory.
var ErrHeld = errors.New("another lockcheck is at work on it")

// InputError is a fault of what the user handed in: a directory that is none of ours, a file that is missing, cut short
// or malformed. Its message names the file, and the line where there is one. It means exit code 64.
type InputError struct{ Err error }

func (e *InputError) Error() string { return e.Err.Error() }

func (e *InputError) Unwrap() error { return e.Err }

func inputErrorf(format string, args ...any) error { return &InputError{fmt.Errorf(format, args...)} }

// Create makes the directory of a new run, out/<time>-<backend>-<workload>-<nemesis>-<seed>, and points out/latest at
// it. A directory that exists is never used again: a run started in the same second gets a number behind its name. It is held
// until the process ends, so that it is not taken for one that is over.
func Create(out string, plan history.Plan, now time.Time) (*Dir, error) {
	if err := MakeOut(out); err != nil {
		return nil, inputErrorf("cannot make the directory for runs: %w", err)
	}
	latest := filepath.Join(out, LatestLink)
	if info, err := os.Lstat(latest); err == nil && info.Mode()&fs.ModeSymlink == 0 {
		return nil, inputErrorf("%s is not a link that lockcheck made; move it away or choose another --out", latest)
	}
	name := runName(plan, now)
	path, err := makeNew(out, name)
	if err != nil {
		return nil, inputErrorf("cannot make a run directory: %w", err)
	}
	d := &Dir{path: path}
	d.release, _ = Hold(path) // no other process knows it yet
	if err := os.Mkdir(d.NodesDir(), 0o755); err != nil {
		return nil, fmt.Errorf("cannot make the directory for the servers' logs: %w", err)
	}
	d.before, _ = os.Readlink(latest)
	if err := Relink(latest, filepath.Base(path)); err != nil {
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
	latest := filepath.Join(filepath.Dir(d.path), LatestLink)
	if now, err := os.Readlink(latest); err == nil && now == filepath.Base(d.path) {
		if d.before == "" {
			err = os.Remove(latest)
		} else {
			err = Relink(latest, d.before)
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
	return now.Format(timeInName) + "-" + NameOf(plan)
}

var dirName = regexp.MustCompile(`^(\d{8}T\d{6})-([\w.+]+-[\w.+]+-[\w.+]+--?\d+)(\.\d+)?$`)

// ParseName is when the run was started whose directory has a name, and what the name says of its plan; ok is false for a name
// that lockcheck does not give.
func ParseName(name string) (started time.Time, planned string, ok bool) {
	match := dirName.FindStringSubmatch(name)
	if match == nil {
		return started, "", false
	}
	started, err := time.ParseInLocation(timeInName, match[1], time.Local)
	return started, match[2], err == nil
}

var manyName = regexp.MustCompile(`^([a-z]+-)(\d{8}T\d{6})(\.\d+)?$`)

// ParseMany is when many runs were started, from their directory's name; ok is false for a name that CreateMany does not give.
func ParseMany(prefix, name string) (started time.Time, ok bool) {
	match := manyName.FindStringSubmatch(name)
	if match == nil || match[1] != prefix {
		return started, false
	}
	started, err := time.ParseInLocation(timeInName, match[2], time.Local)
	return started, err == nil
}

// timeInName begins the name of a run, so that runs sort by it.
const timeInName = "20060102T150405"

// NameOf is what the name of a run says of its plan.
func NameOf(plan history.Plan) string {
	return fmt.Sprintf("%s-%s-%s-%d", FileWord(plan.Backend), FileWord(plan.Workload), FileWord(plan.Nemesis), plan.Seed)
}

// maxPathWord keeps a long list of faults from making a name that file systems refuse.
const maxPathWord = 48

// FileWord keeps of a text what is harmless in a file's name on every system and in every shell.
func FileWord(s string) string {
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

// MakeOut makes the directory of all runs where there is none yet. One that it makes is ignored by git: recordings are no part of
// a project's source.
func MakeOut(out string) error {
	if _, err := os.Stat(out); err == nil {
		return nil
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(out, ignoreFile), []byte(ignoreAll), 0o644)
}

// What keeps git from a directory.
const (
	ignoreFile = ".gitignore"
	ignoreAll  = "*\n"
)

// RemoveOut removes the directory of all runs if it holds nothing but what MakeOut put there.
func RemoveOut(out string) error {
	entries, err := os.ReadDir(out)
	if err != nil {
		return err
	}
	if len(entries) == 1 && entries[0].Name() == ignoreFile {
		if text, err := os.ReadFile(filepath.Join(out, ignoreFile)); err != nil || string(text) != ignoreAll {
			return err // it is not ours
		}
		if err := os.Remove(filepath.Join(out, ignoreFile)); err != nil {
			return err
		}
	} else if len(entries) > 0 {
		return nil
	}
	return os.Remove(out)
}

// CreateMany makes a directory for many runs, out/<prefix><time>, with one for the runs in it, and points the link out/<latest> at it. One that
// exists is never used again.
func CreateMany(out, prefix, latest, runs string, now time.Time) (string, error) {
	if err := MakeOut(out); err != nil {
		return "", fmt.Errorf("cannot make the directory: %w", err)
	}
	link := filepath.Join(out, latest)
	if info, err := os.Lstat(link); err == nil && info.Mode()&os.ModeSymlink == 0 {
		return "", fmt.Errorf("%s is not a link that lockcheck made; move it away or choose another directory", link)
	}
	name := filepath.Join(out, prefix+now.Format(timeInName))
	for n := 1; ; n++ {
		dir := name
		if n > 1 {
			dir = fmt.Sprintf("%s.%d", name, n)
		}
		err := os.Mkdir(dir, 0o755) // fails if it exists, which keeps two that begin in one second apart
		if err == nil {
			err = os.Mkdir(filepath.Join(dir, runs), 0o755)
		}
		if err == nil {
			return dir, Relink(link, filepath.Base(dir))
		}
		if !errors.Is(err, os.ErrExist) || n == maxSameSecond {
			return dir, err
		}
	}
}

// Relink replaces a link in one step, so that no reader ever finds it missing. The target is relative: the tree can be moved.
// Windows cannot replace one, and has them made by developers and administrators only: there it may be missing.
func Relink(link, target string) error {
	if runtime.GOOS == "windows" {
		_ = os.Remove(link)
		_ = os.Symlink(target, link)
		return nil
	}
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

// ReadingFolder is the folder of a run directory in which another reading of the run is kept: beside the run's own results, which are of
// what was recorded.
const ReadingFolder = "failed-as-info"

// ForReading is where the judgement of another reading of the run is published.
func (d *Dir) ForReading() *Dir { return &Dir{path: d.file(ReadingFolder), recorded: d} }

func (d *Dir) file(name string) string { return filepath.Join(d.path, name) }

// Name is what the directory is called, also when it was opened through a link.
func (d *Dir) Name() string {
	if d.recorded != nil {
		return filepath.Join(d.recorded.Name(), filepath.Base(d.path))
	}
	if whole, err := filepath.Abs(d.path); err == nil {
		return filepath.Base(whole)
	}
	return filepath.Base(d.path)
}

// RunPath is the directory that the run was recorded in and its logs are below, for another reading of the run, too.
func (d *Dir) RunPath() string {
	if d.recorded != nil {
		return d.recorded.path
	}
	return d.path
}

// Path is the directory itself.
func (d *Dir) Path() string { return d.path }

// HistoryPath is where the events of the run are recorded.
func (d *Dir) HistoryPath() string { return d.file(HistoryFile) }

// ResourcePath is where the protected resource writes its log.
func (d *Dir) ResourcePath() string { return d.file(ResourceFile) }

// ReportPath is where the report for people is.
func (d *Dir) ReportPath() string { return d.file(ReportFile) }

// NodesDir is where the servers' and clients' logs go, one directory each.
func (d *Dir) NodesDir() string { return d.file(NodesFolder) }
