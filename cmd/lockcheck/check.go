package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"lockcheck/checker"
	"lockcheck/checker/history"
	"lockcheck/checker/model"
	"lockcheck/cmd/internal/harness"
	"lockcheck/reports/index"
	"lockcheck/reports/rundir"
	"lockcheck/reports/terminal"
)

func checkCommand() *cobra.Command {
	var asJSON, quiet, partial, open, covered bool
	var properties []string
	var foreign foreignFlags
	cmd := &cobra.Command{
		Use:   "check RUN",
		Short: "Judge a recorded run again, from its directory alone",
		Long: "check judges the recording in a run directory again and prints the verdict. It rewrites results.json and report.html.\n" +
			"It requires no cluster: the verdict is the same later, and on another machine.\n" +
			"\n" +
			"With --property, check judges only some properties and changes no file. If none of them applies to the run, the verdict\n" +
			"is inconclusive.\n" +
			"\n" +
			"With --read-failed-as=info, check reads failed operations as operations of unknown outcome. The report in\n" +
			"failed-as-info/ says whether the verdict depends on that.\n" +
			"\n" +
			"With --format=jepsen, the argument is a file that Jepsen recorded: the history of one lock or register. If the values are\n" +
			"tuples [key value] of jepsen.independent, check judges each key alone.",
		Example: "  lockcheck check lockcheck-out/latest\n  lockcheck check lockcheck-out/latest --property=stale-write,lost-update\n  lockcheck check lockcheck-out/latest --json | jq .verdict\n  lockcheck check lockcheck-out/latest --coverage\n  lockcheck check --format=jepsen --model=mutex store/latest/history.edn\n  lockcheck check --format=jepsen --model=cas-register --initial=0 store/latest/history.edn",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return harness.Usage(fmt.Errorf("check takes one run directory, such as lockcheck-out/latest; %d were given", len(args)))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			model, err := foreign.wanted(cmd)
			if err != nil {
				return err
			}
			if covered && (model != nil || asJSON || quiet) {
				return harness.Usage(fmt.Errorf("--coverage is about the recording of a run, and is printed for people: leave out --format, --json and --quiet"))
			}
			if model != nil {
				return checkForeign(args[0], model, history.Type(foreign.failedAs), foreign.budget, output{asJSON, quiet, false, cmd.OutOrStdout(), cmd.ErrOrStderr()})
			}
			names, err := propertyNames(properties, cmd.Flags().Changed("property"))
			if err != nil {
				return err
			}
			return check(args[0], checker.Options{Properties: names, FailedAs: history.Type(foreign.failedAs)}, partial, covered, output{asJSON, quiet, open, cmd.OutOrStdout(), cmd.ErrOrStderr()})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print results.json on standard output and nothing else")
	cmd.Flags().BoolVar(&partial, "partial", false, "judge a recording whose end is missing: it can show a violation, never a pass;\nviolations that a missing line may excuse are left out")
	cmd.Flags().BoolVar(&quiet, "quiet", false, "print the verdict's sentence only")
	cmd.Flags().StringSliceVar(&properties, "property", nil, "judge only these: "+knownProperties())
	cmd.Flags().BoolVar(&covered, "coverage", false, "also print how close the run came to violations, the states of the locks, how often each followed another, and what came before and after each fault")
	openFlag(cmd.Flags(), &open)
	foreign.add(cmd)
	return cmd
}

func check(path string, opts checker.Options, partial, covered bool, out output) error {
	if err := otherThanARun(path); err != nil {
		return harness.Usage(err)
	}
	dir, err := rundir.Open(path)
	if err != nil {
		return harness.AsUsage(err)
	}
	if release, err := rundir.Hold(dir.RunPath()); err == nil { // clean must not remove it while it is judged; where another has it, it is safe
		defer release()
	}
	boundHeap(dir.Recorded())
	judge := harness.Judge
	if partial {
		judge = harness.JudgeSoFar
	}
	judgement, err := judge(dir, opts)
	if err != nil {
		return harness.AsUsage(err)
	}
	// Part of a verdict must not take the place of the whole, nor another reading that of what was recorded.
	if opts.FailedAs == history.Info {
		dir = dir.ForReading()
	}
	err = conclude(dir, judgement, opts.Properties == nil, index.Update, out)
	if covered {
		terminal.Coverage(out.out, judgement.Model)
	}
	return err
}

func propertyNames(wanted []string, given bool) ([]model.Name, error) {
	if !given {
		return nil, nil
	}
	var names []model.Name
	for _, word := range wanted {
		name := model.Name(strings.TrimSpace(word))
		if !slices.Contains(checker.Names(), name) {
			return nil, harness.Usage(unknownProperty(word))
		}
		names = append(names, name)
	}
	if names == nil {
		return nil, harness.Usage(fmt.Errorf("--property names no property; known are %s", knownProperties()))
	}
	return names, nil
}

func unknownProperty(word string) error {
	known := strings.Split(knownProperties(), ", ")
	return fmt.Errorf("unknown property %q%s; known are %s", word, history.Meant("", word, known), knownProperties())
}

func knownProperties() string {
	words := make([]string, len(checker.Names()))
	for i, name := range checker.Names() {
		words[i] = string(name)
	}
	return strings.Join(words, ", ")
}
