package index

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
	"lockcheck/reports/compare"
	"lockcheck/reports/hunts"
	"lockcheck/reports/rundir"
	"lockcheck/reports/words"
)

// found is what the files of a run or a comparison say.
type found struct {
	plan     string // what decides it, without its seed and versions; "" if that is not known
	what     string // such as "etcd / pause / lock"
	seed     int64
	verdict  model.Verdict // "" if there is none
	sentence string
	facts    []fact // what is compared with the last one of the same plan
	page     string // in its directory; "" if there is none
}

// fact is one thing that may change from one to the next.
type fact struct{ name, value string }

// maxFile bounds what is read of a file. What stands before the end of that is known then.
const maxFile = 1 << 20

// readers read the directory of each kind.
var readers = map[kind]func(dir string) found{ofRun: readRun, ofComparison: readComparison, ofHunt: readHunt}

// readRun reads a run's plan and results. The verdict is at the head of the results: it is known even where findings make
// them longer than what is read.
func readRun(dir string) (f found) {
	var plan history.Plan
	if readJSON(filepath.Join(dir, rundir.PlanFile), &plan) != nil || plan.Backend == "" {
		return found{page: existing(dir, rundir.ReportFile)}
	}
	f = found{plan: planOf(plan.Command), what: plan.Backend + " / " + plan.Nemesis + " / " + plan.Workload, seed: plan.Seed, page: existing(dir, rundir.ReportFile)}
	file, err := open(filepath.Join(dir, rundir.ResultsFile))
	if err != nil {
		return f
	}
	defer file.Close()
	results := headOf(file)
	if f.verdict = results.Verdict; f.verdict == "" {
		return f
	}
	f.sentence = words.Incidents(results.Incidents)
	if results.Reason != "" {
		f.sentence += "; " + results.Reason
	}
	f.facts = append(f.facts, fact{"verdict", string(results.Verdict)}, fact{"incidents", fmt.Sprint(results.Incidents)})
	for _, p := range results.Properties {
		f.facts = append(f.facts, fact{string(p.Name), string(p.Verdict)})
	}
	for _, name := range slices.Sorted(maps.Keys(results.Versions)) {
		f.facts = append(f.facts, fact{"version of " + name, results.Versions[name]})
	}
	return f
}

// head is what is shown of results.json.
type head struct {
	Verdict    model.Verdict
	Reason     string
	Incidents  int64
	Versions   map[string]string
	Properties []struct {
		Name    model.Name
		Verdict model.Verdict
	}
}

// headOf reads the fields of results one after another, as far as there are any.
func headOf(r io.Reader) (h head) {
	decoder := json.NewDecoder(io.LimitReader(r, maxFile))
	if start, err := decoder.Token(); err != nil || start != json.Delim('{') {
		return h
	}
	fields := map[string]any{"verdict": &h.Verdict, "reason": &h.Reason, "incidents": &h.Incidents, "versions": &h.Versions, "properties": &h.Properties}
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return h
		}
		into, wanted := fields[fmt.Sprint(name)]
		if !wanted {
			into = &json.RawMessage{}
		}
		if decoder.Decode(into) != nil {
			return h
		}
	}
	return h
}

// planOf is the command of a run without its seed: that of the next is another.
func planOf(command []string) string {
	var words []string
	for _, word := range command {
		if !strings.HasPrefix(word, "--seed=") {
			words = append(words, word)
		}
	}
	return strings.Join(words, "\x00")
}

// summary is what is shown of compare.json.
type summary struct {
	compare.Comparison
	Cells []struct { // without their runs, which have long stories
		compare.Cell
		Outcome   compare.Outcome
		Verdict   model.Verdict
		Incidents int64
	} `json:"cells"`
}

func readComparison(dir string) (f found) {
	var c summary
	f.page = existing(dir, compare.HTMLFile)
	if readJSON(filepath.Join(dir, compare.JSONFile), &c) != nil || c.Version != compare.FormatVersion {
		return f
	}
	plan := []string{fmt.Sprint(c.Expecting)}
	for _, cell := range c.Basis.Cells {
		plan = append(plan, fmt.Sprint(cell.Cell, cell.Flags, cell.Repeat))
	}
	f.plan, f.seed = strings.Join(append(plan, c.Shard.String()), "\x00"), c.Seed
	f.what = history.Counted(int64(len(c.Matrix)), "cell", "cells")
	if c.Shard.Count > 1 {
		f.what += ", shard " + c.Shard.String()
	}
	for _, cell := range c.Cells {
		c.Comparison.Cells = append(c.Comparison.Cells, compare.Result{Cell: cell.Cell, Outcome: cell.Outcome, Verdict: cell.Verdict, Incidents: cell.Incidents})
		name := cell.Cell.String()
		f.facts = append(f.facts, fact{name, outcomes[cell.Outcome] + " (" + string(cell.Verdict) + ")"}, fact{"incidents of " + name, fmt.Sprint(cell.Incidents)})
	}
	f.facts = append(f.facts, fact{"version of lockcheck", c.Lockcheck})
	f.verdict, f.sentence = c.verdict(), c.Sentence()
	return f
}

// readHunt reads what a hunt found. Signatures are compared with those of the last one of the same plan.
func readHunt(dir string) (f found) {
	f.page = existing(dir, hunts.HTMLFile)
	var r hunts.Record
	if readJSON(filepath.Join(dir, hunts.JSONFile), &r) != nil || r.Version != hunts.FormatVersion {
		return f
	}
	f.plan = strings.Join(slices.Concat([]string{"hunt"}, r.Flags, r.For), "\x00")
	f.what, f.seed, f.sentence = r.Backend+" / "+r.Client+" / "+strings.Join(r.For, ", "), r.Seed, r.Sentence()
	f.verdict = r.Verdict()
	for _, find := range r.Finds {
		f.facts = append(f.facts, fact{find.Signature, "found"})
	}
	f.facts = append(f.facts, fact{"version of lockcheck", r.Lockcheck})
	return f
}

// verdict is what the exit code says: without its runs a comparison cannot be judged anew. None without a cell, and no pass
// beside a cell that is not as it should be.
func (c summary) verdict() model.Verdict {
	met := func(r compare.Result) bool { return r.Outcome == compare.Met }
	switch cells := c.Comparison.Cells; {
	case len(cells) == 0:
		return ""
	case c.ExitCode == 1 || c.ExitCode == 3:
		return model.Violation
	case c.ExitCode == 0 && !slices.ContainsFunc(cells, func(r compare.Result) bool { return !met(r) }):
		return model.Pass
	}
	return model.Inconclusive
}

// outcomes are what became of a cell, in words.
var outcomes = map[compare.Outcome]string{
	compare.Met: "as it should be", compare.Unmet: "not as it should be", compare.Unclear: "inconclusive", compare.Failed: "could not be run", compare.NotRun: "not run",
}

// errNoFile says that what has a file's name is none.
var errNoFile = errors.New("it is no file")

// open opens a file, and nothing else: to open a named pipe would mean to wait for a writer.
func open(name string) (*os.File, error) {
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errNoFile
	}
	return os.Open(name)
}

func readJSON(name string, into any) error {
	file, err := open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	return json.NewDecoder(io.LimitReader(file, 8*maxFile)).Decode(into)
}

// existing is the name of a file if it is in a directory.
func existing(dir, name string) string {
	if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
		return ""
	}
	return name
}
