package main

import (
	"context"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"lockcheck/clusters/local"
)

// nodeRunner is a backend whose servers are this program run again.
type nodeRunner interface {
	// RunNode is one server: it serves until ctx is done. The error says why it could not.
	RunNode(ctx context.Context, args []string) error
}

// nodeCommand is hidden: the harness starts it for each server.
func nodeCommand() *cobra.Command {
	node := &cobra.Command{Use: "node", Short: "Be one server of a backend", Hidden: true, Args: cobra.NoArgs}
	for _, backend := range backends {
		runner, ok := backend.(nodeRunner)
		if !ok {
			continue
		}
		node.AddCommand(&cobra.Command{
			Use: backend.Name(), Short: "Be one server of " + backend.Name(), DisableFlagParsing: true,
			RunE: func(cmd *cobra.Command, args []string) error {
				ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM)
				defer stop()
				return runner.RunNode(ctx, args)
			},
		})
	}
	return node
}

// janitorCommand is hidden: the local provider starts it where it cannot leave cleaning up to the kernel.
func janitorCommand() *cobra.Command {
	return &cobra.Command{
		Use: local.JanitorCommand, Short: "Clean up behind a run", Hidden: true, DisableFlagParsing: true,
		RunE: func(_ *cobra.Command, args []string) error { return local.Janitor(args) },
	}
}
