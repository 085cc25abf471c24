// Command lockcheck answers one question: can I trust this distributed lock?
package main

import (
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"slices"

	"github.com/spf13/cobra"

	"lockcheck/clusters/provider/local"
	"lockcheck/cmd/internal/harness"
)

func main() {
	// Go exits with 2 after a panic, which here would mean "inconclusive": let it abort instead.
	debug.SetTraceback("crash")
	local.Exit(execute(context.Background(), os.Args[1:]))
}

func execute(ctx context.Context, args []string) int {
	root := rootCommand()
	root.SetArgs(args)
	began := false
	root.PersistentPreRun = func(*cobra.Command, []string) { began = true }
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return exitPass
	}
	if !began { // cobra found no command to run, or not with these arguments
		if _, _, unknown := root.Find(args); unknown != nil {
			err = fmt.Errorf("%w\nTry: lockcheck --help", err)
		}
		err = harness.Usage(err)
	}
	if message := err.Error(); message != "" {
		fmt.Fprintln(os.Stderr, "lockcheck: "+message)
		annotateError(cmd, err)
	}
	return exitCode(err)
}

// flagsOnly refuses arguments: without it cobra takes them for unknown commands.
func flagsOnly(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
		return nil
	case cmd.Flags().Lookup("backend") != nil && slices.Contains(harness.BackendNames(), args[0]):
		return fmt.Errorf("%s takes flags only: say --backend=%s", cmd.CommandPath(), args[0])
	}
	return fmt.Errorf("%s takes flags only, and %q is none\nTry: %s --help", cmd.CommandPath(), args[0], cmd.CommandPath())
}

// rootCommand is the table of commands; each is made in a file of its own.
func rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:           "lockcheck",
		Short:         "Can I trust this distributed lock?",
		Long:          "lockcheck runs real lock services, disturbs the holders of their locks, and proves from the recorded history\nwhether two of them held one lock at once and whether the data was harmed.",
		Example:       "  lockcheck run --backend=etcd --nemesis=pause\n  lockcheck check lockcheck-out/latest",
		Version:       harness.Version(),
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetFlagErrorFunc(flagError)
	root.SetHelpTemplate(root.HelpTemplate() + "{{if not .HasParent}}\n" + environmentWords() + "\n{{end}}")
	root.AddCommand(runCommand(), planCommand(), checkCommand(), bundleCommand(), listCommand(), doctorCommand(), cleanCommand())
	root.AddCommand(galleryCommand(), compareCommand(), huntCommand(), shrinkCommand(), mergeCommand(), initCommand(), schemaCommand(), versionCommand())
	root.AddCommand(abilitiesCommand(), campaignShardCommand())
	root.AddCommand(roleCommands()...)
	completeFlags(root)
	return root
}

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
