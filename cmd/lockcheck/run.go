package main

import (
	"math/rand/v2"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"lockcheck/cmd/internal/harness"
	"lockcheck/reports/index"
	"lockcheck/reports/rundir"
)

func runCommand() *cobra.Command {
	var f runFlags
	var replay, plan, expected string
	var open bool
	cmd := &cobra.Command{
		Use:   "run [-- CLIENT-COMMAND...]",
		Short: "Run a real lock service under faults and judge what happened",
		Long: "run starts the servers of a backend and lets lock clients contend for locks and write to a protected resource. Meanwhile\n" +
			"it injects faults. It records everything, and then judges the recording.\n" +
			"\n" +
			"Exit codes: 0 pass · 1 violation · 2 inconclusive · 64 bad usage · 69 a dependency is unavailable ·\n" +
			"70 a bug in lockcheck · 130 interrupted",
		Example: "  lockcheck run --backend=etcd --nemesis=pause\n" +
			"  lockcheck run --backend=etcd --nemesis=pause --workload=fencing --seed=7 --time-limit=60s\n" +
			"  lockcheck run --backend=redis --nemesis=partition:holder@work,1.5ttl --guard=before-write\n" +
			"  lockcheck run --backend=zookeeper --nemesis=pause --client-image=our-client:1.4 -- python3 client.py\n" +
			"  lockcheck run --replay=lockcheck-out/latest --provider=docker\n" +
			"  lockcheck run --plan=plan.json",
		Args: flagsAndClientArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := harness.CheckGiven(cmd.Flags()); err != nil {
				return err
			}
			switch {
			case cmd.Flags().Changed("plan"):
				var err error
				if f, err = planned(plan, cmd.Flags()); err != nil {
					return err
				}
			case replay != "":
				var err error
				if f, err = replayed(replay, cmd.Flags()); err != nil {
					return err
				}
			case !cmd.Flags().Changed("seed"):
				f.Seed = rand.Int64N(1 << 31)
			}
			var err error
			if f.Expected, err = expectedOf(expected); err != nil {
				return harness.Usage(err)
			}
			return harness.Run(cmd.Context(), f.Options, f.quiet, func(dir *rundir.Dir, j rundir.Judgement) error {
				return conclude(dir, j, true, index.Write, output{f.json, f.quiet, open, cmd.OutOrStdout(), cmd.ErrOrStderr()})
			})
		},
	}
	f.bind(cmd.Flags())
	openFlag(cmd.Flags(), &open)
	cmd.Flags().StringVar(&expected, expectedFlag, "", "what a comparison expects of the run, as JSON")
	_ = cmd.Flags().MarkHidden(expectedFlag) // it exists: the line above
	cmd.Flags().StringVar(&replay, "replay", "", "repeat the plan of this run directory; takes only flags about where it runs and what it shows")
	cmd.Flags().StringVar(&plan, "plan", "", "run the schedule of this file, which plan --json prints and you can edit; takes the same other flags as --replay")
	return cmd
}

// runFlags is what a user asks of a run, and how it is shown.
type runFlags struct {
	harness.Options
	json, quiet bool
}

// bind declares the flags of run, which plan has too.
func (f *runFlags) bind(flags *pflag.FlagSet) {
	f.bindSome(flags, func(harness.Flag) bool { return true })
}

// bindSome declares some of them, and how a run is shown.
func (f *runFlags) bindSome(flags *pflag.FlagSet, takes func(harness.Flag) bool) {
	harness.Declare(flags, &f.Options, takes)
	flags.BoolVar(&f.json, "json", false, "print results.json on standard output, and nothing else there")
	flags.BoolVar(&f.quiet, "quiet", false, "print the verdict only")
}
