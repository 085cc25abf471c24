package main

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"lockcheck/checker/history"
	"lockcheck/clusters"
	"lockcheck/cmd/internal/harness"
	"lockcheck/cmd/internal/scenarios"
	"lockcheck/reports/compare"
	"lockcheck/reports/compare/config"
	"lockcheck/reports/gallery"
	"lockcheck/reports/rate"
	"lockcheck/reports/rundir"
)

// galleryFlags is what a user asks of the gallery.
type galleryFlags struct {
	all, contrast, print bool
	file, resume         string
	repeat, jobs         int
	untilKnown           string
	known                float64 // the half width that it says; 0 for none
	rates                bool
	run                  runFlags
	campaign             campaignFlags
}

func galleryCommand() *cobra.Command {
	var f galleryFlags
	cmd := &cobra.Command{
		Use:   "gallery [SCENARIO]...",
		Short: "List known failures of locks, and reproduce them",
		Long: "gallery lists scenarios: known failures of real locks. Each has a run that shows the failure, and a contrast: the nearest\n" +
			"run that does not fail. With names, gallery runs the failures and says which were reproduced.\n" +
			"\n" +
			"A run is reproduced if each property in the scenario's file has the expected verdict. A contrast that expects no\n" +
			"violation must have none at all.\n" +
			"\n" +
			"Exit codes: 0 reproduced · 1 not reproduced · 2 inconclusive · 64 bad usage · 69 a dependency is unavailable ·\n" +
			"70 a bug in lockcheck · 130 interrupted",
		Example: "  lockcheck gallery\n" +
			"  lockcheck gallery pause-holder\n" +
			"  lockcheck gallery pause-holder --contrast\n" +
			"  lockcheck gallery pause-holder --print\n" +
			"  lockcheck gallery --all pause-holder fence-holds\n" +
			"  lockcheck gallery --all --jobs=2 --json >gallery.json\n" +
			"  lockcheck gallery pause-holder --until-known=15%\n" +
			"  lockcheck gallery --rates\n" +
			"  lockcheck gallery --all --on=kubernetes --parallel=50 --image=registry.example/lockcheck:1\n" +
			"  lockcheck gallery --resume=lockcheck-out/latest-gallery\n" +
			"  lockcheck gallery --file=ours.yaml",
		RunE: func(cmd *cobra.Command, args []string) error {
			out := output{f.run.json, f.run.quiet, false, cmd.OutOrStdout(), cmd.ErrOrStderr()}
			onCluster, err := f.onCluster(cmd.Flags(), args)
			if err != nil {
				return harness.Usage(err)
			}
			if f.resume != "" {
				return f.goOn(cmd.Context(), out)
			}
			chosen, err := f.chosen(args)
			if err != nil {
				return harness.Usage(err)
			}
			switch {
			case f.rates:
				return f.listRates(chosen, out)
			case onCluster:
				return f.runCampaign(cmd.Context(), chosen, cmd.Flags(), out)
			case f.print:
				return f.printCommands(chosen, cmd.Flags(), out)
			case len(args) == 0 && !f.all && f.file == "":
				return listScenarios(chosen, out)
			}
			return f.begin(cmd.Context(), chosen, cmd.Flags(), out)
		},
	}
	f.bind(cmd.Flags())
	return cmd
}

// ofGallery are the flags of a run that the gallery takes for all of its runs.
var ofGallery = []string{"provider", "seed", "out", clusters.FlagImage}

func (f *galleryFlags) bind(flags *pflag.FlagSet) {
	flags.BoolVar(&f.all, "all", false, "run failure and contrast of every scenario, or of the named ones")
	flags.BoolVar(&f.contrast, "contrast", false, "run the contrast instead of the failure")
	flags.BoolVar(&f.print, "print", false, "print the scenario's commands, without a run")
	flags.StringVar(&f.file, "file", "", "run the scenario in this file instead of a built-in one")
	flags.StringVar(&f.resume, "resume", "", "continue the gallery in this directory after Ctrl-C or a crash: run what is missing or could not run")
	flags.IntVar(&f.repeat, "repeat", 1, "runs of each; their rate is shown with its 95 % interval")
	flags.StringVar(&f.untilKnown, untilKnownFlag, "", "end the runs of each once their rate is known to within this, such as 15%, as compare does; at most --repeat (default with it: "+strconv.Itoa(defaultKnown)+")")
	flags.BoolVar(&f.rates, "rates", false, "list the rate of each scenario, as measured and as the galleries in --out found it, without a run")
	flags.IntVar(&f.jobs, "jobs", min(runtime.NumCPU(), maxDefaultJobs), "runs to make in parallel, each in its own namespaces or containers")
	f.run.bindSome(flags, func(flag harness.Flag) bool { return slices.Contains(ofGallery, flag.Name) })
	f.campaign.not, f.campaign.beside = notInGalleryCampaigns, []string{"json", "quiet"}
	f.campaign.bind(flags, "run")
	flags.Lookup(clusters.FlagImage).Usage = "with --on: the image of lockcheck that pods run"
	flags.Lookup("seed").Usage = "seed of each first run; each next run has the next number (default: random, and printed)"
	flags.Lookup("out").Usage = "directory for the directories of galleries"
	flags.Lookup("json").Usage = "print the list, or the results of the runs, as JSON on standard output, and nothing else there"
	flags.Lookup("quiet").Usage = "print names, or the last line, only"
}

// check refuses flags that do not go together.
func (f *galleryFlags) check(given *pflag.FlagSet, args []string) error {
	if err := harness.CheckGiven(given); err != nil {
		return err
	}
	if f.jobs < 1 || f.jobs > maxJobs {
		return fmt.Errorf("--jobs=%d: use 1 to %d", f.jobs, maxJobs)
	}
	if f.repeat < 1 || f.repeat > rate.MaxRuns {
		return fmt.Errorf("--repeat=%d: use 1 to %d", f.repeat, rate.MaxRuns)
	}
	if given.Changed(untilKnownFlag) {
		if !given.Changed("repeat") {
			f.repeat = defaultKnown
		}
		var err error
		if f.known, err = halfWidth(f.untilKnown, f.repeat); err != nil {
			return err
		}
	}
	what := f.asked(given, args)
	switch {
	case f.rates:
		return onlyGiven(given, "is for runs, and --rates makes none: leave one of the two out", "rates", "out", "json")
	case f.print && (given.Changed("repeat") || f.known > 0):
		return errors.New("--print prints the command of one run: leave --repeat and --until-known out")
	case len(what) > 1:
		return fmt.Errorf("%s and %s both say what to run: choose one", what[0], what[1])
	case f.contrast && (f.all || len(what) == 0):
		return errors.New("--contrast is for scenarios that are named: name one, or leave the flag out; --all runs both halves")
	case f.print && (len(what) == 0 || f.resume != ""):
		return errors.New("--print needs a scenario, --file or --all")
	case f.print && f.run.json:
		return errors.New("--print prints commands for a shell, and --json has no form for them: leave one of the two out")
	case len(what) == 0:
		return onlyGiven(given, "is for runs, and the gallery is only listed: name a scenario, or say --all", "json", "quiet")
	case f.resume != "":
		return onlyGiven(given, fmt.Sprintf("cannot change what the gallery in %s was asked for: leave it out beside --resume", f.resume), "resume", "jobs", "json", "quiet")
	}
	return nil
}

// onCluster reports whether a campaign is asked for, and is an error for flags that do not go together.
func (f *galleryFlags) onCluster(given *pflag.FlagSet, args []string) (bool, error) {
	onCluster, err := f.campaign.asked(given)
	switch {
	case err != nil:
		return false, err
	case onCluster && f.campaign.job != "":
		if what := f.asked(given, args); len(what) > 0 {
			return false, fmt.Errorf("--attach-job comes back to what was decided; %s cannot change that", what[0])
		}
		return true, nil
	case onCluster:
		return true, errors.Join(f.check(given, args), notLocal(given))
	case given.Changed(clusters.FlagImage):
		return false, fmt.Errorf("--%s means something with --on=%s only", clusters.FlagImage, onKubernetes)
	}
	return false, f.check(given, args)
}

// asked is what says which scenarios are meant: names, or else --all, and --file and --resume. More than one cannot be meant.
func (f *galleryFlags) asked(given *pflag.FlagSet, args []string) (what []string) {
	switch {
	case len(args) > 0:
		what = append(what, args[0])
	case f.all:
		what = append(what, "--all")
	}
	for _, flag := range []string{"file", "resume"} {
		if given.Changed(flag) {
			what = append(what, "--"+flag)
		}
	}
	return what
}

// onlyGiven refuses all flags but those allowed, for a reason.
func onlyGiven(given *pflag.FlagSet, reason string, allowed ...string) (err error) {
	given.Visit(func(flag *pflag.Flag) {
		if !slices.Contains(allowed, flag.Name) && err == nil {
			err = fmt.Errorf("--%s %s", flag.Name, reason)
		}
	})
	return err
}

// chosen are the scenarios that are asked for: all if none is named.
func (f *galleryFlags) chosen(args []string) ([]config.Scenario, error) {
	switch {
	case f.file != "":
		s, err := readScenario(f.file)
		return []config.Scenario{s}, err
	case len(args) == 0:
		return scenarios.All(known())
	}
	var chosen []config.Scenario
	for i, name := range args {
		s, err := scenarios.Named(name, known())
		switch {
		case err != nil:
			return nil, err
		case slices.Contains(args[:i], name):
			return nil, fmt.Errorf("%s is named twice: --seed says which run of it is made", name)
		}
		chosen = append(chosen, s)
	}
	return chosen, nil
}

// readScenario reads a user's own.
func readScenario(path string) (config.Scenario, error) {
	s, err := config.ReadScenario(path, path, known())
	if err != nil {
		return s, unreadableScenario(path, err)
	}
	for _, half := range []config.Half{s.Failure, s.Contrast} {
		if mistake := halfMistake(s, half); mistake != nil {
			return s, mistake
		}
	}
	return s, nil
}

func unreadableScenario(path string, err error) error {
	var mistake *config.Error
	if errors.As(err, &mistake) {
		return err
	}
	return fmt.Errorf("--file: %w", err) // which names the path
}

// halfMistake is why a run of the half cannot be, at its place in the file; nil if it can.
func halfMistake(s config.Scenario, half config.Half) error {
	flags := slices.DeleteFunc(slices.Clone(half.Flags), func(f compare.Flag) bool { return f.Name == "client" && half.Library != "" }) // it need not be built yet
	paper := planner{onPaper: true}
	err := paper.onlyOnPaper(flags)
	if err == nil {
		return nil
	}
	return s.Mistake(half.Name, flags[paper.culprit(flags, err)], err)
}

// halves are those of a scenario that are asked for.
func (f *galleryFlags) halves(s config.Scenario) []config.Half {
	switch {
	case f.all:
		return []config.Half{s.Failure, s.Contrast}
	case f.contrast:
		return []config.Half{s.Contrast}
	}
	return []config.Half{s.Failure}
}

// listRates shows how often each scenario is reproduced: as its file says, and as the galleries in --out found it.
func (f *galleryFlags) listRates(chosen []config.Scenario, out output) error {
	seen, err := gallery.ReadAll(f.run.Out)
	if err != nil {
		return harness.Usage(fmt.Errorf("--out=%s: %w", f.run.Out, err))
	}
	rates := []gallery.RateOf{}
	for _, s := range chosen {
		rates = append(rates, gallery.NewRateOf(s, seen))
	}
	if out.json {
		return rundir.EncodeIndented(out.out, struct {
			Rates []gallery.RateOf `json:"rates"`
		}{rates})
	}
	return gallery.RateTable(out.out, rates)
}

func listScenarios(all []config.Scenario, out output) error {
	listed := []gallery.Listed{}
	for _, s := range all {
		listed = append(listed, gallery.NewListed(s))
	}
	if out.json {
		return rundir.EncodeIndented(out.out, struct {
			Scenarios []gallery.Listed  `json:"scenarios"`
			Without   []scenarios.Known `json:"without"` // known failures that none shows
		}{listed, scenarios.Without})
	}
	if err := gallery.List(out.out, listed, out.quiet); err != nil || out.quiet {
		return err
	}
	var text strings.Builder
	text.WriteString("\nKnown failures without a scenario:\n")
	for _, w := range scenarios.Without {
		fmt.Fprintf(&text, "  %s: %s\n", w.Name, w.Reason)
	}
	_, err := fmt.Fprint(out.out, text.String())
	return err
}

// runFlagsOf are the flags of a half's runs; a provider goes before that of its file.
func runFlagsOf(half config.Half, provider string) []compare.Flag {
	flags := slices.Clone(half.Flags)
	if !slices.ContainsFunc(flags, func(f compare.Flag) bool { return f.Name == "work" }) { // its rate was measured without what runs do by default
		flags = append(flags, compare.Flag{Name: "work", Value: history.DefaultWork.String()})
	}
	if provider != "" {
		flags = slices.DeleteFunc(flags, func(f compare.Flag) bool { return f.Name == "provider" })
		flags = append(flags, compare.Flag{Name: "provider", Value: provider})
	}
	return flags
}

// provider is the one that was asked for, "" if none was.
func (f *galleryFlags) provider(given *pflag.FlagSet) string {
	if !given.Changed("provider") {
		return ""
	}
	return f.run.Where.Provider
}
