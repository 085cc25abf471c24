package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"lockcheck/clusters"
	"lockcheck/clusters/provider/docker"
	"lockcheck/clusters/provider/local"
	"lockcheck/cmd/internal/harness"
)

func cleanCommand() *cobra.Command {
	var old oldRuns
	var attach, attachConfig string
	cmd := &cobra.Command{
		Use: "clean", Short: "Remove what earlier runs left, and only that", Args: flagsOnly,
		Long: "clean removes what killed runs left: containers, networks and volumes with lockcheck's labels, and directories and\n" +
			"processes of local runs. It leaves active runs, run directories and everything that is not lockcheck's alone.\n" +
			"\n" +
			"With --older-than, clean removes old directories of runs, comparisons and hunts instead, and asks first. It takes only those\n" +
			"below --out that hold nothing but lockcheck's files and are not active. It follows no link.\n" +
			"\n" +
			"With --attach, clean removes the keys that killed runs left at a running service, and nothing else there. It takes the\n" +
			"runs below --out that had the same value of --attach.",
		Example: "  lockcheck clean\n  lockcheck clean --older-than=7d\n  lockcheck clean --older-than=36h --yes\n  lockcheck clean --attach=etcd-1.example:2379,etcd-2.example:2379 --attach-config=access.yaml",
		RunE: func(cmd *cobra.Command, _ []string) error {
			given := cmd.Flags().Changed
			switch {
			case given("older-than") && given(clusters.FlagAttach):
				return harness.Usage(fmt.Errorf("--older-than is about directories of this machine, and --%s about a service: one after the other", clusters.FlagAttach))
			case given("older-than"):
				return old.remove(cmd)
			case given(clusters.FlagAttach):
				return cleanAttached(cmd, attach, attachConfig, old.out)
			case given(clusters.FlagAttachConfig):
				return harness.Usage(fmt.Errorf("--%s goes with --%s", clusters.FlagAttachConfig, clusters.FlagAttach))
			}
			for _, flag := range []string{"out", "yes"} {
				if given(flag) {
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
	access, _ := harness.FlagNamed(clusters.FlagAttachConfig)
	cmd.Flags().StringVar(&attach, clusters.FlagAttach, "", "remove the keys that killed runs left at the running service at `host:port,...`")
	cmd.Flags().StringVar(&attachConfig, clusters.FlagAttachConfig, "", access.Help)
	return cmd
}

// cleanAttached removes what killed runs left at a service.
func cleanAttached(cmd *cobra.Command, attach, attachConfig, out string) error {
	said, err := harness.CleanAttached(cmd.Context(), attach, attachConfig, out)
	for _, what := range said {
		fmt.Fprintln(cmd.OutOrStdout(), what)
	}
	if err == nil && len(said) == 0 {
		fmt.Fprintf(cmd.OutOrStdout(), "no run below %s left anything at a service\n", out)
	}
	return err
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
