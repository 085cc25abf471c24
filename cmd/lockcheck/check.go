package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"lockcheck/checker"
	"lockcheck/checker/history"
	"lockcheck/cmd/internal/harness"
	"lockcheck/reports/index"
	"lockcheck/reports/rundir"
)

func checkCommand() *cobra.Command {
	var asJSON, quiet, partial, open bool
	var properties []string
	var foreign foreignFlags
	cmd := &cobra.Command{
		Use:   "check RUN",
		Short: "Judge a recorded run again, from its directory alone",
		Long: "check reads plan.json, history.jsonl and resource.jsonl of a run directory, judges them, shows the verdict and\n" +
			"rewrites results.json and report.html. Nothing of the cluster is needed: a run can be judged later, on another\n" +
			"machine, and comes to the same verdict.\n\n" +
			"With --property only some properties are judged; the files of the run are left as they are then. The verdict names them,\n" +
			"and where none of them applies to the run it is inconclusive.\n\n" +
			"With --read-failed-as=info every operation that a client reported as failed is read as one of unknown outcome, and\n" +
			"the report, which goes to failed-as-info/ in the run's directory, says whether the verdict depends on that.\n\n" +
			"With --format=jepsen the argument is a file that Jepsen recorded: the history of one lock or one register, or of several\n" +
			"whose values are tuples [key value], as jepsen.independent makes them; each key is judged alone then.",
		Example: "  lockcheck check lockcheck-out/latest\n  lockcheck check lockcheck-out/latest --property=stale-write,lost-update\n  lockcheck check lockcheck-out/latest --json | jq .verdict\n  lockcheck check --format=jepsen --model=mutex store/latest/history.edn\n  lockcheck check --format=jepsen --model=cas-register --initial=0 store/latest/history.edn",
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
			if model != nil {
				return checkForeign(args[0], model, history.Type(foreign.failedAs), foreign.budget, output{asJSON, quiet, false, cmd.OutOrStdout(), cmd.ErrOrStderr()})
			}
			names, err := propertyNames(properties, cmd.Flags().Changed("property"))
			if err != nil {
				return err
			}
			return check(args[0], checker.Options{Properties: names, FailedAs: history.Type(foreign.failedAs)}, partial, output{asJSON, quiet, open, cmd.OutOrStdout(), cmd.ErrOrStderr()})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print results.json on standard output and nothing else")
	cmd.Flags().BoolVar(&partial, "partial", false, "judge a recording without its end as far as it goes: it can show a violation, never a pass;\nwhat a line that is missing may excuse is left out")
	cmd.Flags().BoolVar(&quiet, "quiet", false, "print the verdict's sentence only")
	cmd.Flags().StringSliceVar(&properties, "property", nil, "judge only these: "+knownProperties())
	openFlag(cmd.Flags(), &open)
	foreign.add(cmd)
	return cmd
}

func check(path string, opts checker.Options, partial bool, out output) error {
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
	judge := dir.Judge
	if partial {
		judge = dir.JudgeSoFar
	}
	judgement, err := judge(opts)
	if err != nil {
		return harness.AsUsage(err)
	}
	// Part of a verdict must not take the place of the whole, nor another reading that of what was recorded.
	if opts.FailedAs == history.Info {
		dir = dir.ForReading()
	}
	return conclude(dir, judgement, opts.Properties == nil, index.Update, out)
}

func propertyNames(wanted []string, given bool) ([]checker.Name, error) {
	if !given {
		return nil, nil
	}
	var names []checker.Name
	for _, word := range wanted {
		name := checker.Name(strings.TrimSpace(word))
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
