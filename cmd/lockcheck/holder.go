package main

import (
	"github.com/spf13/cobra"

	"lockcheck/clusters/docker/holder"
)

// holderCommand is hidden: it is the first process of each host's container under Docker.
func holderCommand() *cobra.Command {
	return &cobra.Command{
		Use: holder.Command, Short: "Hold a host's namespaces and start its processes", Hidden: true, Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return holder.Main() },
	}
}
