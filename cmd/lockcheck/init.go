package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"lockcheck/cmd/internal/harness"
	"lockcheck/reports/compare/config"
)

func initCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "init [FILE]",
		Short: "Write a commented " + config.Name + " to begin with",
		Long:  "init writes a commented file for lockcheck compare, " + config.Name + " unless another name is given. A file that exists is never\nchanged.",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			name := config.Name
			if len(args) == 1 {
				name = args[0]
			}
			file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
			switch {
			case errors.Is(err, fs.ErrExist):
				return harness.Usage(fmt.Errorf("%s exists and is left as it is; init writes only where nothing is: move it away, or give another name", name))
			case err != nil:
				return harness.Usage(fmt.Errorf("cannot write %s: %w", name, err))
			}
			_, err = file.WriteString(config.Example)
			if err = errors.Join(err, file.Close()); err != nil {
				return fmt.Errorf("cannot write %s: %w", name, errors.Join(err, os.Remove(name)))
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "wrote %s; run it with: lockcheck compare --file=%s\n", name, name)
			return err
		},
	}
}
