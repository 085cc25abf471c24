package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

// clientArg is the flag of lockcheck run that what follows -- stands for.
const clientArg = "client-arg"

// flagsAndClientArgs takes behind -- the command of the lock client's image, and refuses all other arguments.
func flagsAndClientArgs(cmd *cobra.Command, args []string) error {
	if cmd.ArgsLenAtDash() != 0 {
		return flagsOnly(cmd, args)
	}
	if len(args) > 0 && cmd.Flags().Changed(clientArg) {
		return fmt.Errorf("--%s and -- %s both say what the lock client's image is to run: leave one of them out", clientArg, args[0])
	}
	for _, word := range args {
		if err := cmd.Flags().Set(clientArg, word); err != nil {
			return err
		}
	}
	return nil
}
