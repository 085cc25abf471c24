package main

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"lockcheck/checker/history"
	"lockcheck/clusters/client"
	"lockcheck/cmd/internal/harness"
)

// versions are what decides whether two programs understand each other.
type versions struct {
	Lockcheck string `json:"lockcheck"` // the module's version, or the commit it was built from
	Go        string `json:"go"`
	Formats   int    `json:"formats"`  // of history.jsonl, resource.jsonl, plan.json and results.json
	Protocol  int    `json:"protocol"` // of lock clients
}

func versionCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "version", Short: "Print the versions of lockcheck, its file formats and its client protocol", Args: flagsOnly,
		Example: "  lockcheck version\n  lockcheck version --json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			v := versions{harness.Version(), strings.TrimPrefix(runtime.Version(), "go"), history.FormatVersion, client.ProtocolVersion}
			if asJSON {
				return json.NewEncoder(cmd.OutOrStdout()).Encode(v)
			}
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "lockcheck %s\ngo        %s\nformats   %d\nprotocol  %d\n", v.Lockcheck, v.Go, v.Formats, v.Protocol)
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}
