package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"lockcheck/cmd/internal/harness"
	"lockcheck/nemesis"
	"lockcheck/reports/compare/config"
	"lockcheck/reports/rundir"
)

func schemaCommand() *cobra.Command {
	var scenario bool
	cmd := &cobra.Command{
		Use: "schema [" + strings.Join(rundir.SchemaNames(), "|") + "]", Short: "Print the JSON schema of a file", Args: cobra.MaximumNArgs(1), ValidArgs: rundir.SchemaNames(),
		Long: "Without a name, schema prints a JSON schema (draft-07) of " + config.Name + ", the file of a comparison. An editor with a YAML\n" +
			"language server completes and checks the file with it if the file begins with the line\n\n  " + config.Modeline + "\n\n" +
			"The schema cannot tell whether a client exists, for example: lockcheck compare --list checks such things.\n\n" +
			"With --scenario, schema prints that of a file for lockcheck gallery --file.\n\n" +
			"With a name, schema prints a JSON schema (2020-12) of a file that a run leaves: results and plan of the whole file, history\n" +
			"and resource of each line.",
		Example: "  lockcheck schema >" + config.SchemaName + "\n  lockcheck schema --scenario >scenario.schema.json\n  lockcheck schema results >results.schema.json",
		RunE: func(cmd *cobra.Command, args []string) error {
			var schema any
			switch {
			case len(args) > 0 && scenario:
				return harness.Usage(errors.New("--scenario: use it without a name"))
			case len(args) > 0:
				named, err := rundir.Schema(args[0])
				if err != nil {
					return harness.Usage(fmt.Errorf("%w: use %s", err, strings.Join(rundir.SchemaNames(), ", ")))
				}
				schema = named
			case scenario:
				schema = config.ScenarioSchema(known(), configMenu())
			default:
				schema = config.Schema(known(), configMenu())
			}
			return rundir.EncodeIndented(cmd.OutOrStdout(), schema)
		},
	}
	cmd.Flags().BoolVar(&scenario, "scenario", false, "print the schema of a scenario's file instead")
	return cmd
}

// configMenu is what a schema says of what known takes.
func configMenu() config.Menu {
	all := everything()
	menu := config.Menu{
		Backends: choices(all.Backends), Clients: map[string][]config.Choice{}, Workloads: choices(all.Workloads),
		Nemeses: choices(all.Nemeses), NemesisPattern: nemesis.Pattern(), ClientPattern: harness.ProgramPattern,
	}
	for _, b := range all.Backends {
		menu.Clients[b.Name] = choices(b.Clients)
	}
	return menu
}

func choices(of []listed) (all []config.Choice) {
	for _, l := range of {
		all = append(all, config.Choice{Name: l.Name, About: l.About})
	}
	return all
}
