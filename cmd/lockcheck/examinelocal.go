package main

import (
	"context"
	"fmt"
	"runtime"
	"slices"

	"github.com/spf13/cobra"

	"lockcheck/checker/history"
	"lockcheck/clusters"
	"lockcheck/clusters/provider/local"
	"lockcheck/cmd/internal/harness"
	"lockcheck/nemesis/agent/delay"
)

// knownAbilities are those that the provider tries, and that of holding packets back.
var knownAbilities = append(slices.Clone(local.KnownAbilities), local.Known{Name: "delay", Here: true})

// without says what cannot be done without an ability.
func without(ability string) string {
	known := knownAbilities[slices.IndexFunc(knownAbilities, func(k local.Known) bool { return k.Name == ability })]
	lost := known.Costs
	for _, fault := range history.Faults() {
		switch {
		case !slices.Contains(fault.Machine, ability):
		case lost == "":
			lost = "no " + fault.Lacking
		default:
			lost += " and no " + fault.Lacking
		}
	}
	if known.Here {
		return clusters.Local + ": " + lost
	}
	return lost
}

// examineLocal examines this machine, and looks for the program of each backend's servers.
func examineLocal(ctx context.Context, at harness.Where) (all []symptom) {
	if err := local.Available(); err != nil {
		return []symptom{{Name: clusters.Local, Found: err.Error(), Without: "runs without an engine"}}
	}
	abilities, err := local.Abilities(ctx)
	if err != nil {
		all = append(all, symptom{Name: local.AbilityNamespaces, Found: err.Error(), Without: "local runs"})
	}
	for _, a := range abilities {
		s := symptom{Name: a.Name, OK: a.Missing == "", Found: a.Missing, Without: without(a.Name)}
		if s.OK {
			s.Found = a.Found
		}
		all = append(all, s)
	}
	for _, b := range harness.Backends {
		all = append(all, examineServer(ctx, "server", b.Software(), at.ServerPaths, b.Name()))
		for _, o := range b.Software().Optional {
			all = append(all, examineServer(ctx, "optional server", o.Software, clusters.ServerPaths{}, fmt.Sprintf("%s with --%s=%s", b.Name(), clusters.FlagSet, o.Setting)))
		}
		all = append(all, examineClients(ctx, b)...)
	}
	return all
}

// examineServer looks for the program of servers of a kind; runs are those that have them.
func examineServer(ctx context.Context, kind string, software clusters.Software, places clusters.ServerPaths, runs string) symptom {
	s := symptom{Name: kind + " " + software.Backend, Without: clusters.ChooseLocal + " for " + runs}
	words, err := serverWords(ctx, software, places)
	if s.OK = err == nil; s.OK {
		s.Found = words
	} else {
		s.Found = err.Error()
	}
	return s
}

// examineClients looks for the programs of a backend's lock clients that are programs of their own; several may share one.
func examineClients(ctx context.Context, b clusters.Backend) (all []symptom) {
	var seen []clusters.ClientProgram
	for _, c := range b.Clients() {
		if c.Program == nil || slices.Contains(seen, c.Program) {
			continue
		}
		seen = append(seen, c.Program)
		words, err := c.Program.Describe(ctx, runtime.GOARCH)
		s := symptom{Name: "client " + b.Name(), OK: err == nil, Found: words, Without: "runs of " + b.Name()}
		if err != nil {
			s.Found = err.Error()
		}
		all = append(all, s)
	}
	return all
}

// serverWords say where a server on this machine is, and which version it says it is. One that says none is there all the same.
func serverWords(ctx context.Context, software clusters.Software, places clusters.ServerPaths) (string, error) {
	where := "in lockcheck's own binary"
	found, err := software.Find(ctx, places)
	if err != nil {
		return "", err
	}
	if len(found) > 0 {
		where = found[0]
		if software.Jars { // what is started is the runtime; which jar it runs is what the user wants to know
			where += " with " + found[len(found)-1]
		}
	}
	if software.Version == nil {
		return where, nil
	}
	version, err := software.Version(ctx, found)
	if err != nil {
		return fmt.Sprintf("%s; its version is unknown: %v", where, err), nil
	}
	return fmt.Sprintf("%s, %s", version, where), nil
}

// abilitiesCommand is hidden: doctor starts it, so that what it tries happens in a process of its own.
func abilitiesCommand() *cobra.Command {
	var wait bool
	cmd := &cobra.Command{
		Use: local.AbilitiesCommand, Short: "Try what this machine can do", Hidden: true, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			here, code, err := local.TellAbilities(wait, cmd.OutOrStdout(), local.Trial{Name: "delay", Try: func() (string, error) { return delay.Try(0) }})
			if err != nil || here {
				return err
			}
			return harness.ExitStatus(code)
		},
	}
	cmd.Flags().BoolVar(&wait, "wait", false, "only wait for the end of the input")
	return cmd
}
