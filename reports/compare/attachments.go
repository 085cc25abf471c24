package compare

import (
	"os"
	"path/filepath"
	"strings"

	"lockcheck/reports/rundir"
	"lockcheck/reports/words"
)

// Attachments says where the files of runs lie. CI systems attach to a test case the files that lines of its output name.
type Attachments struct {
	// Dir is the directory of the comparison, which the paths of runs are relative to.
	Dir string
	// Project is the directory that paths are written relative to: GitLab serves a job's artifacts by their path below
	// CI_PROJECT_DIR. "" writes absolute paths, as Jenkins' plugin for attachments wants them.
	Project string
}

// attached are the files of a run, the one for people first: GitLab shows only the first of a case.
var attached = []string{rundir.ReportFile, rundir.HistoryFile, rundir.ResourceFile, rundir.PlanFile}

// lines name the report and the recording of a cell that is not as it should be, as far as they are there.
func (a Attachments) lines(r Result) (lines []string) {
	if r.Outcome == Met {
		return nil
	}
	dirs := []string{r.Stopped}
	if run, ok := r.representative(); ok {
		dirs = []string{run.Dir, r.Stopped}
	}
	for _, dir := range dirs {
		for _, name := range attached {
			if path := a.path(dir, name); dir != "" && path != "" {
				lines = append(lines, "[[ATTACHMENT|"+path+"]]")
			}
		}
	}
	return lines
}

// path is a file of a run's directory as CI wants it; "" if it is not there, or cannot be named: not below the project, or with
// a character in its path that ends such a line for one reader or the other.
func (a Attachments) path(dir, name string) string {
	path, err := filepath.Abs(filepath.Join(a.Dir, filepath.FromSlash(dir), name))
	if err != nil {
		return ""
	}
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	if a.Project != "" {
		if path = below(resolved(a.Project), resolved(path)); !filepath.IsLocal(path) {
			return ""
		}
	}
	if strings.ContainsAny(path, "[]|") || words.Plain(path) != path {
		return ""
	}
	return path
}

// resolved is a path without links, where they can be followed.
func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}
