// Package index writes the page of a directory of runs: all runs, comparisons and hunts in it, the newest first, each with what changed
// since the last one of the same plan. It reads only the small files that programs read, a bounded number of them in bounded
// time, and it replaces no page of others.
package index

import (
	"bytes"
	"errors"
	"fmt"
	"io"
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

// File is what the page is called.
const File = "index.html"

const (
	// maxEntries is how many runs and comparisons the page shows: the newest.
	maxEntries = 200
	// maxReading is for how long files are read. A run waits for its page, which is worth a second.
	maxReading = 700 * time.Millisecond
)

// mark is in every page that lockcheck wrote: no other is replaced.
const mark = `<meta name="generator" content="lockcheck index">`

// entry is one run, comparison or hunt.
type entry struct {
	name    string // of its directory
	kind    kind
	started time.Time
	found   found
	read    bool // else there was no time
	changes []string
	since   string // the name of the last of the same plan; "" if there is none
}

// kind is what an entry is of.
type kind string

const (
	ofRun        kind = "run"
	ofComparison kind = "comparison"
	ofHunt       kind = "hunt"
)

// Write writes the page of a directory of runs. One of a single cell's runs has none: the comparison is in that above it.
func Write(out string, now time.Time) error {
	if absolute, err := filepath.Abs(out); err == nil && compare.IsCellDir(absolute) {
		return nil
	}
	name := filepath.Join(out, File)
	switch ours, err := isOurs(name); {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("cannot write the index of runs: %w", err)
	case err == nil && !ours:
		return fmt.Errorf("cannot write the index of runs: %s is not lockcheck's; move it away, or choose another --out", name)
	}
	defer turn(out, maxReading)()
	entries, total, err := collect(out, time.Now().Add(maxReading)) // now may be long ago: a user was asked something
	if err != nil {
		return fmt.Errorf("cannot write the index of runs: %w", err)
	}
	err = rundir.WriteAtomically(name, func(w io.Writer) error { return html(w, entries, total, now) })
	if err != nil {
		return fmt.Errorf("cannot write the index of runs: %w", err)
	}
	return nil
}

// Update is Write where there is such a page already: judging a run again makes none beside it.
func Update(out string, now time.Time) error {
	if ours, err := isOurs(filepath.Join(out, File)); err != nil || !ours {
		return nil
	}
	return Write(out, now)
}

// turnEvery is how often it is tried whether another lockcheck has written its page.
const turnEvery = 10 * time.Millisecond

// turn waits until no other lockcheck writes the page: the one that reads first would else write last, without the run that ended
// in between. After a while it goes on all the same.
func turn(out string, timeout time.Duration) (release func()) {
	for until := time.Now().Add(timeout); ; time.Sleep(turnEvery) {
		release, err := rundir.Hold(out)
		switch {
		case err == nil:
			return release
		case !errors.Is(err, rundir.ErrHeld) || time.Now().After(until):
			return func() {}
		}
	}
}

// isOurs reports whether a file is a page that lockcheck wrote. What is no file, such as a link, is not.
func isOurs(name string) (bool, error) {
	if info, err := os.Lstat(name); err != nil || !info.Mode().IsRegular() {
		return false, err
	}
	file, err := os.Open(name)
	if err != nil {
		return false, err
	}
	defer file.Close()
	head, err := io.ReadAll(io.LimitReader(file, 1<<10))
	return bytes.Contains(head, []byte(mark)), err
}

// collect finds the newest entries, reads what it can until a deadline, and compares each with the last one of the same plan.
func collect(out string, until time.Time) (entries []*entry, total int, err error) {
	all, err := os.ReadDir(out)
	if err != nil {
		return nil, 0, err
	}
	for _, each := range all {
		if e := named(out, each); e != nil {
			entries = append(entries, e)
		}
	}
	slices.SortStableFunc(entries, func(a, b *entry) int {
		if order := b.started.Compare(a.started); order != 0 {
			return order
		}
		return strings.Compare(b.name, a.name)
	})
	total = len(entries)
	entries = entries[:min(total, maxEntries)]
	for _, e := range entries {
		if time.Now().After(until) {
			break
		}
		e.found, e.read = readers[e.kind](filepath.Join(out, e.name)), true
	}
	compareAll(entries)
	return entries, total, nil
}

// named is the entry of a directory; nil if it is none of a run, a comparison or a hunt. That of a merged comparison may have any name. A
// link is none: what it leads to is listed by its own name, if it is here.
func named(out string, each fs.DirEntry) *entry {
	if !each.IsDir() {
		return nil
	}
	if started, _, ok := rundir.ParseName(each.Name()); ok {
		return &entry{name: each.Name(), kind: ofRun, started: started}
	}
	if started, ok := hunts.ParseName(each.Name()); ok {
		return &entry{name: each.Name(), kind: ofHunt, started: started}
	}
	if started, ok := compare.ParseName(each.Name()); ok {
		return &entry{name: each.Name(), kind: ofComparison, started: started}
	}
	if info, err := os.Lstat(filepath.Join(out, each.Name(), compare.JSONFile)); err == nil && info.Mode().IsRegular() {
		return &entry{name: each.Name(), kind: ofComparison, started: info.ModTime()}
	}
	return nil
}
