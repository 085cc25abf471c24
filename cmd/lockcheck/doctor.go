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
	"lockcheck/clusters/docker"
	"lockcheck/clusters/local"
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
		Use: "doctor", Short: "Say what this machine can do, and what each missing thing costs", Args: flagsOnly,
		Long:    "doctor tries what runs need: namespaces, nftables, ptrace, server programs, the Docker engine and its images. It changes\nnothing and pulls nothing.\n\nExit codes: 0 at least one provider can run each backend · 69 some backend can run nowhere here",
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

// works says what was seen where an ability is there.
var works = map[string]string{
	local.AbilityNamespaces: "made: every host gets a network of its own, and what a run leaves dies with it",
	local.AbilityNftables:   "a table was made, read back and removed",
	local.AbilityPtrace:     "a process was stopped and let go",
	local.AbilityVDSO:       "mapped by the kernel, for a processor whose clocks can be changed",
}

// costs says what cannot be done without an ability.
var costs = map[string]string{
	local.AbilityNamespaces: "local: no partitions, and servers listen on the loopback network instead of one of their own",
	local.AbilityNftables:   "local: no partitions and no packet loss",
	local.AbilityPtrace:     "local: no clock skew",
	local.AbilityVDSO:       "no clock skew",
}

// examinations are what there is to say of a provider beyond what is said of every backend.
var examinations = map[string]func(context.Context, harness.Where) []symptom{docker.Name: examineDocker}

func examine(ctx context.Context, at harness.Where) []symptom {
	all := []symptom{{Name: "platform", OK: runtime.GOOS == "linux", Found: platform(), Without: "lockcheck runs servers on Linux only"}}
	abilities, err := local.Abilities(ctx)
	if err != nil {
		all = append(all, symptom{Name: local.AbilityNamespaces, Found: err.Error(), Without: "local runs"})
	}
	for _, a := range abilities {
		s := symptom{Name: a.Name, OK: a.Missing == "", Found: a.Missing, Without: costs[a.Name]}
		if s.OK {
			s.Found = works[a.Name]
		}
		all = append(all, s)
	}
	for _, b := range harness.Backends {
		s := symptom{Name: "server " + b.Name(), Without: clusters.ChooseLocal + " for " + b.Name()}
		words, err := serverWords(b.Software(), at.ServerPaths)
		if s.OK = err == nil; s.OK {
			s.Found = words
		} else {
			s.Found = err.Error()
		}
		all = append(all, s)
	}
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

func serverWords(software clusters.Software, places clusters.ServerPaths) (string, error) {
	if software.OnMachine == nil {
		return "in lockcheck's own binary", nil
	}
	words, err := software.OnMachine(places)
	if err != nil {
		return "", err
	}
	if software.Jars { // what is started is the runtime; which jar it runs is what the user wants to know
		return words[0] + " with " + words[len(words)-1], nil
	}
	return words[0], nil
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

// abilitiesCommand is hidden: doctor starts it, so that what it tries happens in a process of its own.
func abilitiesCommand() *cobra.Command {
	var wait bool
	cmd := &cobra.Command{
		Use: local.AbilitiesCommand, Short: "Try what this machine can do", Hidden: true, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			here, code, err := local.TellAbilities(wait, cmd.OutOrStdout())
			if err != nil || here {
				return err
			}
			return harness.ExitStatus(code)
		},
	}
	cmd.Flags().BoolVar(&wait, "wait", false, "only wait for the end of the input")
	return cmd
}
