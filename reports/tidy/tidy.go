// Package tidy finds the runs, comparisons and hunts of a directory that are old, and removes them: only what is provably
// lockcheck's, never what is under way, and no link to the newest is left that leads nowhere. No link is followed.
package tidy

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"lockcheck/reports/compare"
	"lockcheck/reports/hunts"
	"lockcheck/reports/rundir"
)

// Entry is the directory of a run, a comparison or a hunt.
type Entry struct {
	Name    string
	Kind    Kind
	Changed time.Time // when it was last written to: a run that is judged again is looked at still
	Bytes   int64
}

// Kind is what a directory is of.
type Kind string

// The kinds.
const (
	Run        Kind = "run"
	Comparison Kind = "comparison"
	Hunt       Kind = "hunt"
)

// latestLinks are what points at the newest of each kind.
var latestLinks = map[Kind]string{Run: rundir.LatestLink, Comparison: compare.LatestLink, Hunt: hunts.LatestLink}

// Left is a directory that is old and stays.
type Left struct{ Name, Why string }

// Old finds what was last written to before a time, the oldest first, and what is old and has to stay.
func Old(out string, before time.Time) (old []Entry, left []Left, err error) {
	if err := isDirectory(out); err != nil {
		return nil, nil, err
	}
	entries, err := os.ReadDir(out)
	if err != nil {
		return nil, nil, err
	}
	for _, entry := range entries {
		started, kind, named := parseName(entry.Name())
		if !named || !entry.IsDir() {
			continue
		}
		dir := filepath.Join(out, entry.Name())
		changed, err := lastChange(dir, started)
		switch {
		case errors.Is(err, fs.ErrNotExist): // another process has removed it
			continue
		case !changed.Before(before):
			continue
		case err != nil: // another user's, perhaps: that is no reason to keep all others
			left = append(left, Left{entry.Name(), err.Error()})
			continue
		}
		if why := stays(dir, foreign(dir, kind)); why != "" {
			left = append(left, Left{entry.Name(), why})
			continue
		}
		old = append(old, Entry{entry.Name(), kind, changed, size(dir)})
	}
	slices.SortStableFunc(old, func(a, b Entry) int { return a.Changed.Compare(b.Changed) })
	return old, left, nil
}

// isDirectory is an error unless a path is a directory itself: what a link leads to was not named.
func isDirectory(out string) error {
	info, err := os.Lstat(filepath.Clean(out)) // with a slash behind its name a link would be followed
	switch {
	case err != nil:
		return err
	case info.Mode()&fs.ModeSymlink != 0:
		return fmt.Errorf("%s is a link, and none is followed here: name the directory that it leads to", out)
	case !info.IsDir():
		return fmt.Errorf("%s is no directory", out)
	}
	return nil
}

// stays is why a directory cannot be removed: it is under way, or what else speaks against it; "" if it can.
func stays(dir, why string) string {
	release, err := rundir.Hold(dir)
	switch {
	case errors.Is(err, rundir.ErrHeld):
		return "it is under way"
	case err != nil:
		return err.Error()
	}
	release()
	return why
}

// Remove removes entries, each as it is now: what has been written to since, was begun again or holds what is not lockcheck's stays.
// One that cannot be removed keeps no other; the error says of each why.
func Remove(out string, old []Entry) (removed []Entry, left []Left, err error) {
	if err := isDirectory(out); err != nil {
		return nil, nil, err
	}
	root, err := os.OpenRoot(out)
	if err != nil {
		return nil, nil, err
	}
	defer root.Close()
	var errs []error
	for _, entry := range old {
		why, err := remove(root, out, entry, old)
		switch {
		case err != nil:
			errs = append(errs, fmt.Errorf("cannot remove %s: %w", filepath.Join(out, entry.Name), err))
		case why != "":
			left = append(left, Left{entry.Name, why})
		default:
			removed = append(removed, entry)
		}
	}
	return removed, left, errors.Join(errs...)
}

func remove(root *os.Root, out string, entry Entry, going []Entry) (why string, err error) {
	dir := filepath.Join(out, entry.Name)
	started, kind, named := parseName(entry.Name)
	if !named || kind != entry.Kind {
		return "its name is none of lockcheck's", nil
	}
	if info, err := root.Lstat(entry.Name); err != nil || !info.IsDir() {
		return "it is no directory any more", nil
	}
	release, err := rundir.Hold(dir)
	switch {
	case errors.Is(err, rundir.ErrHeld):
		return "it is under way", nil
	case err != nil:
		return "", err
	}
	defer release()
	if changed, err := lastChange(dir, started); err != nil || changed.After(entry.Changed) {
		return "it was written to just now", err
	}
	if why := foreign(dir, kind); why != "" {
		return why, nil
	}
	if err := relink(out, entry, going); err != nil {
		return "", err
	}
	return "", removeAll(root, entry)
}

// removeAll leaves to the last what proves that the directory is lockcheck's: one that could be removed in part only can be
// removed by the next attempt.
func removeAll(root *os.Root, entry Entry) error {
	inside, err := fs.ReadDir(root.FS(), entry.Name)
	if err != nil {
		return err
	}
	proof := proofOf[entry.Kind]
	for _, each := range inside {
		if each.Name() == proof {
			continue
		}
		if err := root.RemoveAll(filepath.Join(entry.Name, each.Name())); err != nil {
			return err
		}
	}
	return root.RemoveAll(entry.Name)
}

// relink keeps a link to the newest from leading to what is removed: it is pointed at the newest that stays, or removed.
func relink(out string, entry Entry, going []Entry) error {
	link := filepath.Join(out, latestLinks[entry.Kind])
	if target, err := os.Readlink(link); err != nil || filepath.Base(target) != entry.Name {
		return nil
	}
	entries, err := os.ReadDir(out)
	if err != nil {
		return err
	}
	newest := ""
	for _, other := range entries { // their names begin with the time
		_, kind, named := parseName(other.Name())
		goes := slices.ContainsFunc(going, func(e Entry) bool { return e.Name == other.Name() })
		if named && other.IsDir() && kind == entry.Kind && !goes && strings.Compare(other.Name(), newest) > 0 {
			newest = other.Name()
		}
	}
	if newest == "" {
		return os.Remove(link)
	}
	return rundir.Relink(link, newest)
}

// lastChange is when a directory or what is directly in it was last written to, or the run was started, whatever came last.
func lastChange(dir string, started time.Time) (time.Time, error) {
	info, err := os.Lstat(dir)
	if err != nil {
		return started, err
	}
	last := later(started, info.ModTime())
	entries, err := os.ReadDir(dir)
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil && entry.Type()&fs.ModeSymlink == 0 { // lockcheck writes no links there
			last = later(last, info.ModTime())
		}
	}
	return last, err
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// size is what a directory takes, as far as it can be read.
func size(dir string) (bytes int64) {
	_ = filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() {
			if info, err := entry.Info(); err == nil {
				bytes += info.Size()
			}
		}
		return nil
	})
	return bytes
}
