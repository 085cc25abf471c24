package main

import (
	"encoding/json"

	"github.com/spf13/cobra"

	"lockcheck/cmd/internal/harness"
	"lockcheck/nemesis"
	"lockcheck/reports/compare/config"
)

func schemaCommand() *cobra.Command {
	var scenario bool
	cmd := &cobra.Command{
		Use: "schema", Short: "Print the JSON schema of " + config.Name + ", for editors", Args: flagsOnly,
		Long: "schema prints a JSON schema (draft-07) of the file of a comparison. An editor with a YAML language server completes and\n" +
			"checks the file with it if the file begins with the line\n\n  " + config.Modeline + "\n\n" +
			"What only a run can tell, such as whether a client exists, lockcheck compare --list says. With --scenario it is the schema of a\n" +
			"file for lockcheck gallery --file.",
		Example: "  lockcheck schema >" + config.SchemaName + "\n  lockcheck schema --scenario >scenario.schema.json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			encoder := json.NewEncoder(cmd.OutOrStdout())
			encoder.SetIndent("", "  ")
			encoder.SetEscapeHTML(false)
			if scenario {
				return encoder.Encode(config.ScenarioSchema(known(), configMenu()))
			}
			return encoder.Encode(config.Schema(known(), configMenu()))
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
