package tidy

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"lockcheck/reports/compare"
	"lockcheck/reports/rundir"
)

// What lockcheck calls its directories: the time first, so that they sort by it.
var (
	runName        = regexp.MustCompile(`^(\d{8}T\d{6})-([\w.+]+-[\w.+]+-[\w.+]+--?\d+)(\.\d+)?$`)
	comparisonName = regexp.MustCompile(`^compare-(\d{8}T\d{6})(\.\d+)?$`)
	cellName       = regexp.MustCompile(`^cell-\d+$`)
)

// parseName is when a run or comparison was started; named is false for all other names.
func parseName(name string) (started time.Time, comparison, named bool) {
	match := runName.FindStringSubmatch(name)
	if match == nil {
		match, comparison = comparisonName.FindStringSubmatch(name), true
	}
	if match == nil {
		return started, false, false
	}
	started, err := time.ParseInLocation("20060102T150405", match[1], time.Local)
	return started, comparison, err == nil
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
	var plan struct {
		Backend, Workload, Nemesis string
		Seed                       *int64
	}
	text, err := os.ReadFile(filepath.Join(dir, rundir.PlanFile))
	if err != nil || json.Unmarshal(text, &plan) != nil || plan.Seed == nil {
		return fmt.Sprintf("it has no %s that could be read, so that it is not known to be lockcheck's", rundir.PlanFile)
	}
	named := fmt.Sprintf("%s-%s-%s-%d", rundir.FileWord(plan.Backend), rundir.FileWord(plan.Workload), rundir.FileWord(plan.Nemesis), *plan.Seed)
	if match := runName.FindStringSubmatch(filepath.Base(dir)); match == nil || match[2] != named {
		return fmt.Sprintf("its %s is that of a run of another name, %s", rundir.PlanFile, named)
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
		if !cell.IsDir() || !cellName.MatchString(cell.Name()) {
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
