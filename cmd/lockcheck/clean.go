package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"lockcheck/clusters/docker"
	"lockcheck/clusters/local"
	"lockcheck/cmd/internal/harness"
)

func cleanCommand() *cobra.Command {
	var old oldRuns
	cmd := &cobra.Command{
		Use: "clean", Short: "Remove what earlier runs left, and only that", Args: flagsOnly,
		Long: "clean removes what runs left that were killed: containers, networks and volumes that bear lockcheck's labels and whose\n" +
			"run is over, and directories and processes of local runs whose harness is gone. Runs that are under way\n" +
			"and everything that is not lockcheck's stay untouched; so do run directories.\n\n" +
			"With --older-than it removes run directories and comparisons instead, after asking: those below --out to which nothing was\n" +
			"written for so long, which hold nothing but what lockcheck made, and which are not under way. No link is followed.",
		Example: "  lockcheck clean\n  lockcheck clean --older-than=7d\n  lockcheck clean --older-than=36h --yes",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("older-than") {
				return old.remove(cmd)
			}
			for _, flag := range []string{"out", "yes"} {
				if cmd.Flags().Changed(flag) {
					return harness.Usage(fmt.Errorf("--%s goes with --older-than, such as --older-than=7d", flag))
				}
			}
			removed, err := sweepAll(cmd.Context())
			for _, what := range removed {
				fmt.Fprintln(cmd.OutOrStdout(), "removed "+what)
			}
			if err == nil && len(removed) == 0 {
				fmt.Fprintln(cmd.OutOrStdout(), "nothing was left")
			}
			return err
		},
	}
	old.bind(cmd.Flags())
	return cmd
}

// sweepers remove what killed runs left; each says what it removed.
var sweepers = []func(context.Context) ([]string, error){
	func(context.Context) ([]string, error) { return local.Sweep() },
	docker.Sweep,
}

func sweepAll(ctx context.Context) ([]string, error) {
	var removed []string
	var errs []error
	for _, sweep := range sweepers {
		some, err := sweep(ctx)
		removed, errs = append(removed, some...), append(errs, err)
	}
	return removed, errors.Join(errs...)
}
