package main

import (
	"math/rand/v2"

	"github.com/spf13/cobra"

	"lockcheck/cmd/internal/harness"
	"lockcheck/reports/index"
)

func runCommand() *cobra.Command {
	var f runFlags
	var replay, plan, expected string
	var open bool
	cmd := &cobra.Command{
		Use:   "run [-- CLIENT-COMMAND...]",
		Short: "Run a real lock service under faults and judge what happened",
		Long: "run starts the servers of a backend, lets lock clients contend for locks and write to a protected resource\n" +
			"while a nemesis disturbs them, records everything, and judges the recording.\n\n" +
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
			outcome, err := harness.Run(cmd.Context(), f.Options, f.quiet)
			if err != nil {
				return err
			}
			return conclude(outcome.Dir, outcome.Judgement, true, index.Write, output{f.json, f.quiet, open, cmd.OutOrStdout(), cmd.ErrOrStderr()})
		},
	}
	f.bind(cmd.Flags())
	openFlag(cmd.Flags(), &open)
	cmd.Flags().StringVar(&expected, expectedFlag, "", "what a comparison expects of the run, as JSON")
	_ = cmd.Flags().MarkHidden(expectedFlag) // it exists: the line above
	cmd.Flags().StringVar(&replay, "replay", "", "a run directory: the same plan once more; beside it only flags that say where and how to show it")
	cmd.Flags().StringVar(&plan, "plan", "", "a file of what plan prints with --json, edited if need be: exactly its schedule; beside it the same flags")
	return cmd
}
