package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"lockcheck/checker/history"
	"lockcheck/cmd/internal/harness"
	"lockcheck/reports/words"
)

func planCommand() *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use: "plan [-- CLIENT-COMMAND...]", Short: "Print the whole plan of a run without making it", Args: flagsAndClientArgs,
		Long: "plan takes the flags of run, and prints what the run would do: servers and their settings, clients, and each fault that\n" +
			"follows from the seed. It starts nothing.",
		Example: "  lockcheck plan --backend=redis --nemesis=partition --seed=7\n  lockcheck plan --backend=etcd --nemesis='pause:holder@acquire,1.5ttl' --seed=7 --json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := harness.CheckGiven(cmd.Flags()); err != nil {
				return err
			}
			if err := f.Check(); err != nil {
				return err
			}
			if !cmd.Flags().Changed("seed") {
				f.Seed = rand.Int64N(1 << 31)
			}
			config, err := harness.Prepare(f.Options)
			if err != nil {
				return err
			}
			if f.json {
				return printPlanJSON(cmd.OutOrStdout(), config.Plan)
			}
			printPlan(cmd.OutOrStdout(), config.Plan, slices.Concat(config.Layout.Nodes, config.Layout.Fronts))
			return nil
		},
	}
	f.bind(cmd.Flags())
	cmd.Flags().Lookup("json").Usage = "print the plan as plan.json holds it"
	// Taken, so that the flags of a run can be; a plan writes nothing.
	cmd.Flags().Lookup("quiet").Hidden = true
	for _, flag := range harness.Flags {
		cmd.Flags().Lookup(flag.Name).Hidden = flag.Has(harness.OfOutput)
	}
	return cmd
}

// printPlanJSON prints a plan file, for run --plan. A plan of a run that was made says more.
func printPlanJSON(out io.Writer, plan history.Plan) error {
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(plan)
}

func printPlan(out io.Writer, plan history.Plan, nodes []string) {
	fmt.Fprintf(out, "backend   %s: %s\n", plan.Backend, strings.Join(nodes, ", "))
	printAttached(out, plan.Attached)
	fmt.Fprintf(out, "clients   %d of %s on %s, workload %s, guard %s\n", plan.Clients, plan.LockClient, history.Counted(plan.Keys, "lock", "locks"), plan.Workload, plan.Guard)
	fmt.Fprintf(out, "resource  %s\n", words.Resource(plan))
	if plan.Jobs() {
		execution, _ := history.ExecutionNamed(plan.Execution)
		fmt.Fprintf(out, "jobs      a slot every %d ms, %s: %s\n", plan.SlotMS, plan.Execution, execution.Note)
	}
	fmt.Fprintf(out, "work      %s\n", words.Work(plan))
	fmt.Fprintf(out, "lease     %d ms asked for, %d ms granted\n", plan.TTLMS, plan.EffectiveMS)
	if plan.GraceMS > 0 {
		fmt.Fprintf(out, "          ended by the service up to %d ms later; faults are measured by both\n", plan.GraceMS)
	}
	if plan.LockDelayMS > 0 {
		fmt.Fprintf(out, "          a lock that was lost so is granted to no client for %d ms\n", plan.LockDelayMS)
	}
	fmt.Fprintf(out, "seed      %d\n", plan.Seed)
	for i, name := range slices.Sorted(maps.Keys(plan.Settings)) {
		fmt.Fprintf(out, "%-9s %s=%s\n", first(i, "settings"), name, plan.Settings[name])
	}
	for i, need := range plan.Exposure {
		fmt.Fprintf(out, "%-9s %d %s\n", first(i, "needs"), need.Min, need.Name)
	}
	fmt.Fprintf(out, "nemesis   %s\n", plan.Nemesis)
	for i, step := range plan.Steps {
		fmt.Fprintf(out, "%9d %s\n", i+1, step)
	}
	fmt.Fprintf(out, "run       %s\n", words.ReproduceCommand(plan))
}

// printAttached says where the servers are, if others run them.
func printAttached(out io.Writer, at *history.Attached) {
	if at == nil {
		return
	}
	for i, e := range at.Endpoints {
		fmt.Fprintf(out, "%-9s %s at %s, which others run\n", first(i, "attached"), e.Node, e.Asked)
	}
	fmt.Fprintf(out, "          at most %d acquires a second, of all clients together\n", at.MaxRate)
}

func first(i int, word string) string {
	if i == 0 {
		return word
	}
	return ""
}
