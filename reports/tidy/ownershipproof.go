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
	"lockcheck/reports/hunts"
	"lockcheck/reports/rundir"
)

// parseName is when a run, a comparison or a hunt was started; named is false for all other names.
func parseName(name string) (started time.Time, kind Kind, named bool) {
	if started, named = compare.ParseName(name); named {
		return started, Comparison, true
	}
	if started, named = hunts.ParseName(name); named {
		return started, Hunt, true
	}
	started, _, named = rundir.ParseName(name)
	return started, Run, named
}

// proofOf are the files by which lockcheck's directories are known.
var proofOf = map[Kind]string{Run: rundir.PlanFile, Comparison: compare.JSONFile, Hunt: hunts.JSONFile}

// What lockcheck puts into its directories. Beside these are Porcupine's pictures, and what a file was to be replaced by when the
// process was killed.
var (
	inRun        = []string{rundir.PlanFile, rundir.HistoryFile, rundir.ResourceFile, rundir.ResultsFile, rundir.ReportFile, rundir.NodesFolder, rundir.WitnessesFolder, rundir.ReadingFolder}
	inComparison = []string{compare.JSONFile, compare.HTMLFile, compare.MarkdownFile, compare.JUnitFile, compare.RunsDir}
	inHunt       = []string{hunts.JournalFile, hunts.JSONFile, hunts.HTMLFile, hunts.JUnitFile, compare.RunsDir}
	inCell       = []string{rundir.LatestLink, ".gitignore"}
	folders      = []string{rundir.NodesFolder, rundir.WitnessesFolder, rundir.ReadingFolder, compare.RunsDir} // all else are files
)

// foreign is why a directory is not provably lockcheck's alone; "" if it is.
func foreign(dir string, kind Kind) string {
	switch kind {
	case Comparison:
		return foreignMany(dir, inComparison, func() error { _, err := compare.ReadDir(dir); return err })
	case Hunt:
		return foreignMany(dir, inHunt, func() error { _, err := hunts.Read(dir); return err })
	}
	return foreignRun(dir)
}

// foreignRun wants what only a run has, the plan that the directory is named after, and nothing else beside it.
func foreignRun(dir string) string {
	if why := othersInRun(dir); why != "" {
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

// foreignMany wants what only such a directory of many runs has, which read reads, and nothing else beside it.
func foreignMany(dir string, known []string, read func() error) string {
	if why := others(dir, known); why != "" {
		return why
	}
	if err := read(); err != nil {
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
		if _, kind, named := parseName(run.Name()); named && kind == Run && run.IsDir() {
			if why := stays(where, othersInRun(where)); why != "" {
				return run.Name() + ": " + why
			}
		} else if !slices.Contains(inCell, run.Name()) {
			return notOurs(filepath.Join(filepath.Base(dir), run.Name()))
		}
	}
	return ""
}

// othersInRun names what lies in the directory of a run, or in any below it, and was not made by lockcheck. A witness and another
// reading of the run are directories of runs.
func othersInRun(dir string) string {
	if _, err := os.Lstat(filepath.Join(dir, rundir.AttachedFile)); err == nil {
		return "it may have left keys at a service: lockcheck clean --attach=… removes these, and goes by " + rundir.AttachedFile
	}
	if why := others(dir, inRun); why != "" {
		return why
	}
	if why := below(filepath.Join(dir, rundir.NodesFolder), othersThanLogs); why != "" {
		return why
	}
	if why := below(filepath.Join(dir, rundir.WitnessesFolder), othersInRun); why != "" {
		return why
	}
	reading := filepath.Join(dir, rundir.ReadingFolder)
	if _, err := os.Lstat(reading); err != nil {
		return ""
	}
	return within(rundir.ReadingFolder, othersInRun(reading))
}

// below looks into each directory in a folder, which holds nothing else.
func below(folder string, look func(dir string) string) string {
	inside, err := os.ReadDir(folder)
	if err != nil && !os.IsNotExist(err) {
		return err.Error()
	}
	for _, entry := range inside {
		if !entry.IsDir() {
			return within(filepath.Base(folder), notOurs(entry.Name()))
		}
		if why := look(filepath.Join(folder, entry.Name())); why != "" {
			return within(filepath.Join(filepath.Base(folder), entry.Name()), why)
		}
	}
	return ""
}

func within(folder, why string) string {
	if why == "" {
		return ""
	}
	return folder + ": " + why
}

// othersThanLogs names what lies in the directory of a server's or client's logs and is none.
func othersThanLogs(dir string) string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err.Error()
	}
	for _, entry := range entries {
		if !entry.Type().IsRegular() || !strings.HasSuffix(entry.Name(), ".log") {
			return notOurs(entry.Name())
		}
	}
	return ""
}

// others names what lies in a directory and was not made by lockcheck, by its name or by what it is.
func others(dir string, known []string) string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err.Error()
	}
	for _, entry := range entries {
		name := entry.Name()
		switch {
		case slices.Contains(known, name) && isWhatItsNameSays(entry):
		case slices.Contains(known, hunts.JSONFile) && entry.Type()&fs.ModeSymlink != 0 && hunts.IsLink(name):
		case entry.Type().IsRegular() && strings.HasPrefix(name, "porcupine-") && strings.HasSuffix(name, ".html"):
		case entry.Type().IsRegular() && slices.ContainsFunc(known, func(file string) bool { return strings.HasPrefix(name, "."+file+".") }):
		default:
			return notOurs(name)
		}
	}
	return ""
}

// isWhatItsNameSays is false for a link, a named pipe (which to read would mean to wait for a writer), and for a folder in the
// place of a file.
func isWhatItsNameSays(entry fs.DirEntry) bool {
	if slices.Contains(folders, entry.Name()) {
		return entry.IsDir()
	}
	return entry.Type().IsRegular()
}

func notOurs(name string) string {
	return fmt.Sprintf("it holds %s, which lockcheck did not make", name)
}
