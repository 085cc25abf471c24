package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"lockcheck/workloads/client"
)

// clientCommand is hidden: the harness starts it for each built-in lock client, and speaks with it over its standard
// input and output (workloads/client/README.md).
func clientCommand() *cobra.Command {
	return &cobra.Command{
		Use: "client BACKEND [NAME]", Short: "Be one lock client", Hidden: true, Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			backend, err := backendNamed(args[0])
			if err != nil {
				return usageError{err}
			}
			lockClient, err := clientNamed(backend, append(args, "")[1])
			if err != nil {
				return usageError{err}
			}
			err = client.Serve(cmd.Context(), os.Stdin, os.Stdout, lockClient.New)
			if errors.Is(err, client.ErrProtocol) {
				return usageError{err}
			}
			if err != nil {
				return fmt.Errorf("client %s of %s: %w", lockClient.Name, backend.Name(), err)
			}
			return nil
		},
	}
}
