//go:build linux

package local

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"

	"lockcheck/checker/history"
	"lockcheck/clusters/provider/procs"
)

// dataName is the name of a loopback site's data directory; it ends with the site's mark.
var dataName = regexp.MustCompile(`^lockcheck-([0-9a-f]{24})$`)

// Sweep removes what a site on loopback left whose harness and janitor were both killed: its data directory, and the
// processes that bear its mark. Sites in namespaces leave nothing. A site whose janitor lives is left alone: that will do it.
// So are those of other users, whose janitors cannot always be seen. It returns what was removed, in words.
func Sweep() (removed []string, err error) {
	entries, err := os.ReadDir(os.TempDir())
	if err != nil {
		return nil, fmt.Errorf("looking for what earlier runs left: %w", err)
	}
	tended := tendedMarks()
	var errs []error
	for _, entry := range entries {
		name := dataName.FindStringSubmatch(entry.Name())
		if name == nil || !entry.IsDir() || tended[name[1]] || !mine(entry) {
			continue
		}
		path := filepath.Join(os.TempDir(), entry.Name())
		processes := len(marked(name[1]))
		if err := errors.Join(sweep(name[1]), os.RemoveAll(path)); err != nil {
			errs = append(errs, err)
			continue
		}
		removed = append(removed, fmt.Sprintf("directory %s and %s", path, history.Counted(processes, "process", "processes")))
	}
	return removed, errors.Join(errs...)
}

// mine reports whether a directory is this user's.
func mine(entry fs.DirEntry) bool {
	info, err := entry.Info()
	if err != nil {
		return false // it is gone by now
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}

// tendedMarks are the marks of the sites that a living janitor looks after.
func tendedMarks() map[string]bool {
	marks := map[string]bool{}
	pids, _ := procs.Numbers()
	for _, pid := range pids {
		line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		words := strings.Split(string(bytes.TrimRight(line, "\x00")), "\x00")
		if err != nil || len(words) < 4 || words[1] != JanitorCommand {
			continue
		}
		for i, word := range words[:len(words)-1] {
			if word == "--mark" {
				marks[words[i+1]] = true
			}
		}
	}
	return marks
}
