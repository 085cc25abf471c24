package main

import (
	"github.com/spf13/cobra"

	"lockcheck/cmd/internal/harness"
)

// roleCommands are hidden: runs start them as their processes.
func roleCommands() (commands []*cobra.Command) {
	for _, role := range harness.Roles {
		commands = append(commands, &cobra.Command{
			Use: role.Name, Short: role.About, Hidden: true, DisableFlagParsing: true,
			RunE: func(cmd *cobra.Command, args []string) error { return role.Run(cmd.Context(), args) },
		})
	}
	return commands
}
