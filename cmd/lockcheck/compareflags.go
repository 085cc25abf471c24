package main

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"lockcheck/checker/history"
	"lockcheck/clusters"
	"lockcheck/clusters/backend/other"
	"lockcheck/cmd/internal/harness"
	"lockcheck/nemesis"
	"lockcheck/reports/compare"
	"lockcheck/reports/compare/config"
	"lockcheck/reports/rate"
	"lockcheck/reports/words"
	"lockcheck/workloads"
)

// defaultNemeses are those of a comparison for which none is named: no faults, and pauses, which tell locks with fencing from
// those without.
var defaultNemeses = []string{history.NoNemesis, string(history.PauseFault)}

// defaultWorkloads are those of a comparison for which none is named: the same work without and with fencing. Jobs are other work under the
// same locks: with them a comparison would take half as long again, and what it says of the locks would be the same.
var defaultWorkloads = []string{"lock", "fencing"}

// besideResources is the workload of a comparison of resources for which none is named: it shows tokens to those that compare them, and
// what else is compared does not look at them.
const besideResources = "fencing"

func (f *compareFlags) defaultWorkloads() []string {
	if len(f.resources) > 0 {
		return []string{besideResources}
	}
	return slices.Clone(defaultWorkloads)
}

// compareFlags is what a user asks of a comparison.
type compareFlags struct {
	backends, workloads []string
	nemeses             []string
	resources, ttls     []string // the axes, with versions
	versions            []string
	file, shard         string
	repeat, jobs        int
	untilKnown          string
	list, failFast      bool
	show                showFlags
	run                 runFlags
	campaign            campaignFlags
}

func (f *compareFlags) bind(flags *pflag.FlagSet) {
	flags.StringSliceVar(&f.backends, "backends", nil, "lock services (default: all): "+strings.Join(harness.BackendNames(), ", ")+", and "+other.Name+" with --"+clusters.FlagAttach+"; with --file: only these of its backends")
	flags.StringArrayVar(&f.nemeses, "nemeses", nil, "faults (default: "+strings.Join(defaultNemeses, ",")+"): names joined by commas, or one description; may be repeated; with --file: only these of its nemeses")
	flags.StringSliceVar(&f.workloads, "workloads", nil, "what clients do (default: "+strings.Join(defaultWorkloads, ",")+"; "+besideResources+" with --resources; "+workloads.Jobs+" only if named): "+strings.Join(workloads.Names(), ", ")+"; with --file: only these of its workloads")
	f.bindAxes(flags)
	flags.StringVar(&f.file, "file", "", "read matrix and expectations from this file (default: "+config.Name+", if no matrix is given)")
	flags.IntVar(&f.repeat, "repeat", 1, "maximum runs of a cell; they stop once the expected violations came; overrides the file's number")
	flags.StringVar(&f.untilKnown, untilKnownFlag, "", "end a cell once its rates are known to within this, such as 15%: half the width of their 95 % intervals, looked at after 5, 10, 20, 40, ... runs; at most --repeat (default with it: "+strconv.Itoa(defaultKnown)+")")
	flags.StringVar(&f.shard, "shard", compare.Whole.String(), "make only one part of the runs: 2/5 is the second of five; lockcheck merge joins them")
	flags.IntVar(&f.jobs, "jobs", min(runtime.NumCPU(), maxDefaultJobs), "runs to make in parallel, each in its own namespaces or containers; lockcheck repeats a run alone if others may have disturbed it")
	flags.String("resume", "", "continue the comparison in this directory after Ctrl-C, a crash or a reboot: run what is missing or could not run")
	flags.String("only-failed", "", "repeat the cells of the comparison in this directory that were not as expected, as a new comparison")
	flags.String("check", "", "judge the comparison in this directory again, without runs, by the expectations of --file (default: the file that it was made from, as it is now)")
	flags.BoolVar(&f.failFast, "fail-fast", false, "start no run after the first cell that is not as expected")
	flags.BoolVar(&f.list, "list", false, "print the cells in order, with seeds, flags and expectations, without a run")
	f.show.bind(flags)
	f.campaign.not, f.campaign.beside = notInCompareCampaigns, shownBeside
	f.campaign.bind(flags, "cell")
	f.run.bindSome(flags, func(flag harness.Flag) bool { return flag.Has(harness.InCompare | harness.OfComparison) })
	flags.Lookup("seed").Usage = "seed of the first run of each cell; each next run has the next number (default: random, and printed)"
	flags.Lookup(clusters.FlagImage).Usage += "; with --on: the image of lockcheck that pods run"
	flags.Lookup("out").Usage = "directory for the directories of comparisons"
	flags.Lookup("json").Usage = "print compare.json on standard output, and nothing else there"
	flags.Lookup("quiet").Usage = "print the last line only"
}

// untilKnownFlag ends a cell once its rates are known, defaultKnown is after how many runs it ends in any case.
const (
	untilKnownFlag = "until-known"
	defaultKnown   = 160
)

// halfWidth reads what the flag is given, such as "15%". A width that not even runs of one kind could come down to is refused.
func halfWidth(text string, repeat int) (float64, error) {
	number, percent := strings.CutSuffix(text, "%")
	half, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if !percent || err != nil || !(half > 0 && half < 50) {
		return 0, fmt.Errorf("--%s=%s: use a percentage between 0 and 50, such as 15%%", untilKnownFlag, text)
	}
	half /= 100
	if at := (rate.Rate{Runs: repeat, Looks: len(rate.Looks(repeat))}); at.HalfWidth() > half {
		return 0, fmt.Errorf("--%s=%s: not even %d runs without a violation are known to within that: use --%s=%.0f%% or more, or a higher --repeat", untilKnownFlag, text, repeat, untilKnownFlag, math.Ceil(100*at.HalfWidth()))
	}
	return half, nil
}

// maxDefaultJobs bounds how many cells run side by side unless more are asked for: their servers share disks and memory, too.
const maxDefaultJobs = 4

// maxJobs bounds what a slip of the finger can ask for.
const maxJobs = 64

// spec is the comparison that the flags ask for.
func (f *compareFlags) spec(given *pflag.FlagSet) (compare.Spec, error) {
	if err := harness.CheckGiven(given); err != nil {
		return compare.Spec{}, err
	}
	if given.Changed("repeat") && (f.repeat < 1 || f.repeat > rate.MaxRuns) {
		return compare.Spec{}, fmt.Errorf("--repeat=%d: a cell has 1 to %d runs", f.repeat, rate.MaxRuns)
	}
	f.nemeses = splitNemeses(f.nemeses)
	for _, list := range f.matrixFlags() {
		if given.Changed(list.flag) && strings.Trim(strings.Join(list.asked, ""), " ,") == "" {
			return compare.Spec{}, fmt.Errorf("--%s names nothing: leave it out, or name some of: %s", list.flag, strings.Join(list.all, ", "))
		}
	}
	spec, err := f.base()
	if err != nil {
		return spec, err
	}
	if err := f.intoMatrix(&spec, given); err != nil {
		return spec, err
	}
	if given.Changed(untilKnownFlag) {
		if !given.Changed("repeat") {
			f.repeat = defaultKnown
		}
		if spec.UntilKnown, err = halfWidth(f.untilKnown, f.repeat); err != nil {
			return spec, err
		}
	}
	if given.Changed("repeat") || spec.UntilKnown > 0 {
		spec.Repeat = f.repeat
		for i := range spec.Expectations {
			spec.Expectations[i].Repeat = 0
		}
	}
	for _, flag := range harness.Flags {
		if !flag.Has(harness.InCompare) || !given.Changed(flag.Name) || (f.campaign.on != "" && flag.Name == clusters.FlagImage) {
			continue
		}
		values := []string{given.Lookup(flag.Name).Value.String()} // an empty one, too, goes before the file's
		if flag.IsPairs() || flag.IsList() {
			values = flag.Values(f.run.Options)
		}
		for _, value := range values {
			spec.Override = append(spec.Override, compare.Flag{Name: flag.Name, Value: value})
		}
	}
	if flag, workload, idle := spec.Idle(); idle {
		return spec, fmt.Errorf("--%s=%s: only workload %s understands it, and the matrix has none: add %s to the workloads, or leave it out", flag.Name, flag.Value, workload, workload)
	}
	return spec, f.untilMeansSomething(spec)
}

// untilMeansSomething refuses --until where it would end no run: it is for cells of which nothing but violations is expected.
func (f *compareFlags) untilMeansSomething(spec compare.Spec) error {
	if f.run.Until == "" || slices.ContainsFunc(spec.Tasks(compare.Whole), compare.Task.EndsOnceFound) {
		return nil
	}
	return fmt.Errorf("--%s=%s would end no run: a cell's runs end early only where its expectations are all `violation`, of %s; no cell of this comparison has such",
		compare.FlagUntil, f.run.Until, strings.Join(harness.FoundEarly(), ", "))
}

// matrixFlag is a flag that names one side of the matrix: what it was given, and what there is.
type matrixFlag struct {
	flag, single string // plural and singular
	asked, all   []string
}

// check is why something that the flag names cannot be.
func (m matrixFlag) check() error {
	for _, word := range m.asked {
		var err error
		switch {
		case m.single == "nemesis": // it may be a description of faults
			_, err = nemesis.Parse(word)
		case !slices.Contains(m.all, word):
			err = history.Unknown(m.single, word, m.all)
		}
		if err != nil {
			return fmt.Errorf("--%s: %w", m.flag, err)
		}
	}
	return nil
}

func (f *compareFlags) matrixFlags() []matrixFlag {
	return []matrixFlag{{"backends", "backend", f.backends, harness.BackendNamesAndOther()}, {"nemeses", "nemesis", f.nemeses, nemesis.Names()}, {"workloads", "workload", f.workloads, workloads.Names()}}
}

// base is the file's comparison, narrowed by the matrix flags, or that of the matrix flags alone.
func (f *compareFlags) base() (compare.Spec, error) {
	byFlags := len(f.backends)+len(f.nemeses)+len(f.workloads) > 0 // --ttls and --resources alone belong to a file as --ttl does
	if f.file == "" && byFlags {
		return f.plain()
	}
	path := f.file
	if path == "" {
		path = config.Name
	}
	spec, err := config.Read(path, known())
	var wrong config.Mistakes
	switch {
	case errors.Is(err, fs.ErrNotExist) && f.file == "":
		return spec, fmt.Errorf("there is no %s here: write one with lockcheck init, or name a matrix, such as --backends=%s", config.Name, strings.Join(harness.BackendNames(), ","))
	case errors.As(err, &wrong):
		planner := planner{onPaper: true}
		return spec, wrong.With(planner.mistakes(spec, spec.Tasks(compare.Whole))...)
	case err != nil:
		return spec, unreadable(path, err)
	}
	return spec, f.narrow(&spec)
}

// unreadable is what the system says of a file that is named with --file, in words that help. What the file says has its place already.
func unreadable(path string, err error) error {
	var mistake *config.Error
	switch {
	case errors.As(err, &mistake):
		return err
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("--file=%s: there is no such file; %s writes one to begin with", path, words.ShellWords([]string{"lockcheck", "init", path}))
	}
	return fmt.Errorf("--file=%s: %w", path, err)
}

// unread warns of a file that is here, and that flags of a matrix, given alone, set aside with all its expectations.
func unread(spec compare.Spec) string {
	if _, err := os.Stat(config.Name); spec.File != "" || err != nil {
		return ""
	}
	return fmt.Sprintf("%s is not read, as flags name the matrix; with --file=%s they narrow its matrix", config.Name, config.Name)
}

func (f *compareFlags) plain() (compare.Spec, error) {
	spec := compare.Spec{Repeat: 1, Nemeses: f.nemeses, Workloads: f.workloads, OnlyIn: known().OnlyIn()}
	for _, name := range f.backends {
		spec.Backends = append(spec.Backends, compare.Backend{Name: name, Kind: name})
	}
	if len(f.backends) == 0 {
		for _, name := range harness.BackendNames() {
			spec.Backends = append(spec.Backends, compare.Backend{Name: name, Kind: name})
		}
	}
	if len(f.nemeses) == 0 {
		spec.Nemeses = slices.Clone(defaultNemeses)
	}
	if len(f.workloads) == 0 {
		spec.Workloads = f.defaultWorkloads()
	}
	var wrong []error
	for _, list := range f.matrixFlags() {
		wrong = append(wrong, list.check())
	}
	if err := errors.Join(wrong...); err != nil {
		return spec, err
	}
	for _, list := range f.matrixFlags() {
		if len(slices.Compact(slices.Sorted(slices.Values(list.asked)))) != len(list.asked) {
			return spec, fmt.Errorf("--%s=%s names something twice", list.flag, strings.Join(list.asked, ","))
		}
	}
	return spec, nil
}

// narrow keeps of the file's matrix what the flags name.
func (f *compareFlags) narrow(spec *compare.Spec) error {
	var names []string
	for _, b := range spec.Backends {
		names = append(names, b.Name)
	}
	for _, list := range []struct {
		flag     string
		has, ask []string
	}{{"backends", names, f.backends}, {"nemeses", spec.Nemeses, f.nemeses}, {"workloads", spec.Workloads, f.workloads}} {
		for _, word := range list.ask {
			if !slices.Contains(list.has, word) {
				return fmt.Errorf("--%s: the matrix of %s has no %q%s; it has: %s", list.flag, spec.File, word, history.Meant("", word, list.has), strings.Join(list.has, ", "))
			}
		}
	}
	keep := func(list, ask []string) []string {
		return slices.DeleteFunc(list, func(word string) bool { return len(ask) > 0 && !slices.Contains(ask, word) })
	}
	spec.Nemeses, spec.Workloads = keep(spec.Nemeses, f.nemeses), keep(spec.Workloads, f.workloads)
	spec.Backends = slices.DeleteFunc(spec.Backends, func(b compare.Backend) bool { return len(f.backends) > 0 && !slices.Contains(f.backends, b.Name) })
	return nil
}

// splitNemeses takes lists of names apart. A description of faults has commas of its own and stays whole: a list is one
// only if every word of it is a bare name.
func splitNemeses(values []string) (nemeses []string) {
	for _, value := range values {
		words := strings.Split(value, ",")
		if slices.ContainsFunc(words, func(w string) bool { return !slices.Contains(nemesis.Names(), w) }) {
			words = []string{value}
		}
		nemeses = append(nemeses, words...)
	}
	return nemeses
}

// known is what a file may name.
func known() config.Known {
	k := config.Known{
		Backends: harness.BackendNamesAndOther(), Workloads: workloads.Names(),
		Nemesis: func(spec string) error { _, err := nemesis.Parse(spec); return err },
	}
	for _, flag := range harness.Flags {
		if flag.Has(harness.InFile) {
			k.Settings = append(k.Settings, config.Setting{Name: flag.Name, Pairs: flag.IsPairs(), List: flag.IsList(), Rule: flag.Rule.Check, Workload: flag.Workload, Help: flag.Help, Schema: flag.Rule.Schema})
		}
	}
	return k
}

func arguments(flags []compare.Flag) (args []string) {
	for _, f := range flags {
		args = append(args, "--"+f.Name+"="+f.Value)
	}
	return args
}
