package main

import (
	"os"

	"github.com/spf13/cobra"

	"lockcheck/nemesis/agent"
)

// agentCommand is hidden: the harness starts it on hosts to carry faults out.
func agentCommand() *cobra.Command {
	return &cobra.Command{
		Use: agent.Command, Short: "Carry faults out on a host", Hidden: true, Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return agent.Serve(os.Stdin, os.Stdout) },
	}
}
