package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"lockcheck/clusters"
	"lockcheck/clusters/provider/docker"
	"lockcheck/cmd/internal/harness"
)

// symptom is one line of doctor: something that lockcheck can use, whether it is there, and what its absence costs.
type symptom struct {
	Name    string `json:"name"`
	OK      bool   `json:"ok"`
	Found   string `json:"found"`           // what is there, or why it is not
	Without string `json:"costs,omitempty"` // what its absence costs; "" if it is there
}

func doctorCommand() *cobra.Command {
	var asJSON bool
	var o harness.Options
	cmd := &cobra.Command{
		Use: "doctor", Short: "Check this machine and list missing features", Args: flagsOnly,
		Long: "doctor checks what runs require: namespaces, nftables, tbf, ptrace, server programs, the Docker engine and its images.\n" +
			"It changes and pulls nothing.\n" +
			"\n" +
			"Exit codes: 0 each backend has a provider that can run it · 69 some backend has none",
		Example: "  lockcheck doctor\n  lockcheck doctor --json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			symptoms := examine(cmd.Context(), o.Where)
			if asJSON {
				encoder := json.NewEncoder(cmd.OutOrStdout())
				encoder.SetIndent("", "  ")
				if err := encoder.Encode(symptoms); err != nil {
					return err
				}
			} else {
				printSymptoms(cmd.OutOrStdout(), symptoms)
			}
			return unrunnableBackends(cmd.Context(), o.Where)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "as a JSON list")
	harness.Declare(cmd.Flags(), &o, harness.Flag.PlaceOfOneProvider)
	for _, flag := range harness.Flags {
		if flag.PlaceOfOneProvider() {
			cmd.Flags().Lookup(flag.Name).Usage = "as for run"
		}
	}
	return cmd
}

// examinations are what there is to say of a provider beyond what is said of every backend.
var examinations = map[string]func(context.Context, harness.Where) []symptom{docker.Name: examineDocker}

func examine(ctx context.Context, at harness.Where) []symptom {
	all := []symptom{{Name: "platform", OK: runtime.GOOS == "linux", Found: platform(), Without: "servers and clients run on Linux only: in containers of an engine"}}
	all = append(all, examineLocal(ctx, at)...)
	for _, p := range harness.Providers {
		if examine := examinations[p.Name]; examine != nil {
			all = append(all, examine(ctx, at)...)
		}
	}
	for i := range all {
		if all[i].OK {
			all[i].Without = ""
		}
	}
	return all
}

func platform() string {
	facts := harness.HostFacts()
	return fmt.Sprintf("%s/%s, kernel %s, %s processors", facts["os"], facts["arch"], facts["kernel"], facts["cpus"])
}

func printSymptoms(out io.Writer, symptoms []symptom) {
	for _, s := range symptoms {
		mark := "✓"
		if !s.OK {
			mark = "✗"
		}
		fmt.Fprintf(out, "%s %-18s %s\n", mark, s.Name, strings.ReplaceAll(s.Found, "\n", "\n"+strings.Repeat(" ", 21)))
		if !s.OK {
			fmt.Fprintf(out, "  %-18s without it: %s\n", "", s.Without)
		}
	}
}

// unrunnableBackends is an error if some backend can run nowhere here.
func unrunnableBackends(ctx context.Context, at harness.Where) error {
	at.Provider = harness.Auto
	var names []string
	for _, b := range harness.Backends {
		if _, _, err := harness.Choose(ctx, at, b.Software()); err != nil {
			names = append(names, b.Name())
		}
	}
	if len(names) == 0 {
		return nil
	}
	return fmt.Errorf("%w: no provider can run %s here; the lines above say what is missing", clusters.ErrUnavailable, strings.Join(names, ", "))
}
