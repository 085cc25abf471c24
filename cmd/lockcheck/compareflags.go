package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"lockcheck/cmd/harness"
	"lockcheck/nemesis"
	"lockcheck/reports/compare"
	"lockcheck/reports/compare/config"
	"lockcheck/workloads"
)

// compareFlags is what a user asks of a comparison.
type compareFlags struct {
	backends, workloads []string
	nemeses             []string
	file, shard         string
	repeat              int
	show                showFlags
	run                 runFlags
}

// ofEveryRun are the flags of run that compare has, too, and hands on where they are given.
var ofEveryRun = []string{"guard", "provider", "server-bin", "server-jar", "image", "clients", "keys", "nodes", "ttl", "time-limit", "set"}

// ofWhole are flags of run that mean the comparison as a whole.
var ofWhole = []string{"seed", "out", "json", "quiet"}

func (f *compareFlags) bind(flags *pflag.FlagSet) {
	flags.StringSliceVar(&f.backends, "backends", nil, "lock services (default: all): "+strings.Join(harness.BackendNames(), ", ")+"; with --file: only these of its backends")
	flags.StringArrayVar(&f.nemeses, "nemeses", nil, "what disturbs them (default: none,pause): names joined by commas, or one description of faults; may be repeated; with --file: only these of its nemeses")
	flags.StringSliceVar(&f.workloads, "workloads", nil, "what clients do (default: all): "+strings.Join(workloads.Names(), ", ")+"; with --file: only these of its workloads")
	flags.StringVar(&f.file, "file", "", "read matrix and expectations from there (default: "+config.Name+", if no matrix is given)")
	flags.IntVar(&f.repeat, "repeat", 1, "the most runs of a cell; where a violation is expected they stop at the first hit; a file's own number holds unless this is given")
	flags.StringVar(&f.shard, "shard", compare.Whole.String(), "run only one part of the matrix: 2/5 is the second of five; lockcheck merge joins them")
	f.show.bind(flags)
	all := pflag.NewFlagSet("run", pflag.ContinueOnError)
	f.run.bind(all)
	for _, name := range slices.Concat(ofEveryRun, ofWhole) {
		flags.AddFlag(all.Lookup(name))
	}
	flags.Lookup("seed").Usage = "of the first run of every cell, the next run has the next (default: drawn, and printed)"
	flags.Lookup("out").Usage = "directory for the directories of comparisons"
	flags.Lookup("json").Usage = "print compare.json on standard output, and nothing else there"
	flags.Lookup("quiet").Usage = "print the last line only"
}

func (f *showFlags) bind(flags *pflag.FlagSet) {
	flags.StringVar(&f.summary, "summary", "", "append Markdown to this file, such as $GITHUB_STEP_SUMMARY; it is kept below 1 MiB")
	flags.BoolVar(&f.annotations, "annotations", false, "print annotations for GitHub on standard output (default: if GITHUB_ACTIONS=true)")
	openFlag(flags, &f.open)
}

// spec is the comparison that the flags ask for.
func (f *compareFlags) spec(given *pflag.FlagSet) (compare.Spec, error) {
	if given.Changed("repeat") && f.repeat < 1 {
		return compare.Spec{}, fmt.Errorf("--repeat=%d: a cell has at least one run", f.repeat)
	}
	f.nemeses = splitNemeses(f.nemeses)
	spec, err := f.base()
	if err != nil {
		return spec, err
	}
	if given.Changed("repeat") {
		spec.Repeat = f.repeat
		for i := range spec.Expectations {
			spec.Expectations[i].Repeat = 0
		}
	}
	for _, name := range ofEveryRun {
		switch {
		case !given.Changed(name):
		case name == "set":
			for _, key := range slices.Sorted(maps.Keys(f.run.Set)) {
				spec.Override = append(spec.Override, compare.Flag{Name: name, Value: key + "=" + f.run.Set[key]})
			}
		default:
			spec.Override = append(spec.Override, compare.Flag{Name: name, Value: given.Lookup(name).Value.String()})
		}
	}
	return spec, nil
}

// base is the file's comparison, narrowed by the matrix flags, or that of the matrix flags alone.
func (f *compareFlags) base() (compare.Spec, error) {
	byFlags := len(f.backends)+len(f.nemeses)+len(f.workloads) > 0
	if f.file == "" && byFlags {
		return f.plain()
	}
	path := f.file
	if path == "" {
		path = config.Name
	}
	spec, err := config.Read(path, known())
	switch {
	case errors.Is(err, fs.ErrNotExist) && f.file == "":
		return spec, fmt.Errorf("there is no %s here: write one with lockcheck init, or name a matrix, such as --backends=%s", config.Name, strings.Join(harness.BackendNames(), ","))
	case err != nil:
		return spec, err
	}
	return spec, f.narrow(&spec)
}

// unread warns of a file that is here, and that flags of a matrix, given alone, set aside with all its expectations.
func unread(spec compare.Spec) string {
	if _, err := os.Stat(config.Name); spec.File != "" || err != nil {
		return ""
	}
	return fmt.Sprintf("%s is not read, as flags name the matrix; with --file=%s they narrow its matrix", config.Name, config.Name)
}

func (f *compareFlags) plain() (compare.Spec, error) {
	spec := compare.Spec{Repeat: 1, Nemeses: f.nemeses, Workloads: f.workloads}
	for _, name := range f.backends {
		spec.Backends = append(spec.Backends, compare.Backend{Name: name, Kind: name})
	}
	if len(f.backends) == 0 {
		for _, name := range harness.BackendNames() {
			spec.Backends = append(spec.Backends, compare.Backend{Name: name, Kind: name})
		}
	}
	if len(f.nemeses) == 0 {
		spec.Nemeses = []string{"none", "pause"}
	}
	if len(f.workloads) == 0 {
		spec.Workloads = workloads.Names()
	}
	for _, list := range []struct {
		flag  string
		words []string
	}{{"backends", f.backends}, {"nemeses", f.nemeses}, {"workloads", f.workloads}} {
		if len(slices.Compact(slices.Sorted(slices.Values(list.words)))) != len(list.words) {
			return spec, fmt.Errorf("--%s=%s names something twice", list.flag, strings.Join(list.words, ","))
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
				return fmt.Errorf("--%s: the matrix of %s has no %q; it has: %s", list.flag, spec.File, word, strings.Join(list.has, ", "))
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
	return config.Known{
		Backends: harness.BackendNames(), Workloads: workloads.Names(), Guards: harness.Guards(), Providers: harness.ProviderNames(),
		Nemesis: func(spec string) error { _, err := nemesis.Parse(spec); return err },
	}
}

// planned tells whether a cell can be run, as far as that can be told without starting anything, and for how long the clients
// of each run would work.
func planned(task compare.Task, seed int64) (time.Duration, error) {
	var f runFlags
	flags := pflag.NewFlagSet("run", pflag.ContinueOnError)
	f.bind(flags)
	if err := flags.Parse(arguments(task.Flags)); err != nil {
		return 0, harness.Usage(err)
	}
	f.Seed = seed
	if err := f.Check(); err != nil {
		return 0, err
	}
	config, err := harness.Prepare(f.Options)
	return time.Duration(config.Plan.TimeLimitMS) * time.Millisecond, err
}

func arguments(flags []compare.Flag) (args []string) {
	for _, f := range flags {
		args = append(args, "--"+f.Name+"="+f.Value)
	}
	return args
}
