package tidy

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"lockcheck/checker/history"
	"lockcheck/reports/compare"
	"lockcheck/reports/rundir"
)

// parseName is when a run or comparison was started; named is false for all other names.
func parseName(name string) (started time.Time, comparison, named bool) {
	if started, named = compare.ParseName(name); named {
		return started, true, true
	}
	started, _, named = rundir.ParseName(name)
	return started, false, named
}

// proofOf is the file by which lockcheck's directories are known.
func proofOf(comparison bool) string {
	if comparison {
		return compare.JSONFile
	}
	return rundir.PlanFile
}

// What lockcheck puts into its directories. Beside these are Porcupine's pictures, and what a file was to be replaced by when the
// process was killed.
var (
	inRun        = []string{rundir.PlanFile, rundir.HistoryFile, rundir.ResourceFile, rundir.ResultsFile, rundir.ReportFile, rundir.NodesFolder, rundir.WitnessesFolder, rundir.ReadingFolder}
	inComparison = []string{compare.JSONFile, compare.HTMLFile, compare.MarkdownFile, compare.JUnitFile, compare.RunsDir}
	inCell       = []string{rundir.LatestLink, ".gitignore"}
)

// foreign is why a directory is not provably lockcheck's alone; "" if it is.
func foreign(dir string, comparison bool) string {
	if comparison {
		return foreignComparison(dir)
	}
	return foreignRun(dir)
}

// foreignRun wants what only a run has, the plan that the directory is named after, and nothing else beside it.
func foreignRun(dir string) string {
	if why := others(dir, inRun); why != "" {
		return why
	}
	var plan struct { // of any version
		Backend, Workload, Nemesis string
		Seed                       *int64
	}
	text, err := os.ReadFile(filepath.Join(dir, rundir.PlanFile))
	if err != nil || json.Unmarshal(text, &plan) != nil || plan.Seed == nil {
		return fmt.Sprintf("it has no %s that could be read, so that it is not known to be lockcheck's", rundir.PlanFile)
	}
	wants := rundir.NameOf(history.Plan{Backend: plan.Backend, Workload: plan.Workload, Nemesis: plan.Nemesis, Seed: *plan.Seed})
	if _, planned, _ := rundir.ParseName(filepath.Base(dir)); planned != wants {
		return fmt.Sprintf("its %s is that of a run of another name, %s", rundir.PlanFile, wants)
	}
	return ""
}

func foreignComparison(dir string) string {
	if why := others(dir, inComparison); why != "" {
		return why
	}
	if _, err := compare.ReadDir(dir); err != nil {
		return fmt.Sprintf("it is not known to be lockcheck's: %v", err)
	}
	cells, err := os.ReadDir(filepath.Join(dir, compare.RunsDir))
	if err != nil && !os.IsNotExist(err) {
		return err.Error()
	}
	for _, cell := range cells {
		where := filepath.Join(dir, compare.RunsDir, cell.Name())
		if !cell.IsDir() || !compare.IsCellDir(where) {
			return notOurs(filepath.Join(compare.RunsDir, cell.Name()))
		}
		if why := foreignCell(where); why != "" {
			return why
		}
	}
	return ""
}

func foreignCell(dir string) string {
	runs, err := os.ReadDir(dir)
	if err != nil {
		return err.Error()
	}
	for _, run := range runs {
		where := filepath.Join(dir, run.Name())
		if _, comparison, named := parseName(run.Name()); named && !comparison && run.IsDir() {
			if why := stays(where, others(where, inRun)); why != "" {
				return run.Name() + ": " + why
			}
		} else if !slices.Contains(inCell, run.Name()) {
			return notOurs(filepath.Join(filepath.Base(dir), run.Name()))
		}
	}
	return ""
}

// others names what lies in a directory and was not made by lockcheck.
func others(dir string, known []string) string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err.Error()
	}
	for _, entry := range entries {
		name := entry.Name()
		switch {
		case entry.Type()&fs.ModeSymlink == 0 && slices.Contains(known, name):
		case entry.Type().IsRegular() && strings.HasPrefix(name, "porcupine-") && strings.HasSuffix(name, ".html"):
		case entry.Type().IsRegular() && slices.ContainsFunc(known, func(file string) bool { return strings.HasPrefix(name, "."+file+".") }):
		default:
			return notOurs(name)
		}
	}
	return ""
}

func notOurs(name string) string {
	return fmt.Sprintf("it holds %s, which lockcheck did not make", name)
}
