package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"lockcheck/cmd/harness"
	"lockcheck/reports/compare"
)

func mergeCommand() *cobra.Command {
	var show showFlags
	var out string
	var asJSON, quiet bool
	cmd := &cobra.Command{
		Use:   "merge DIR...",
		Short: "Join the shards of a comparison",
		Long: "merge reads compare.json in each directory, as lockcheck compare --shard wrote it, judges all cells again, and writes\n" +
			"one table, page and JUnit file of the whole matrix. Its exit codes are those of compare; a cell that no directory has\n" +
			"is inconclusive. Links lead to the runs where they lie now.",
		Example: "  lockcheck merge part-1/compare-* part-2/compare-* --out=whole",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return harness.Usage(fmt.Errorf("merge takes the directories of comparisons, such as lockcheck-out/compare-*; none was given"))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			how := shown{asJSON, quiet, show.open, cmd.OutOrStdout(), cmd.ErrOrStderr()}
			if err := show.check(how); err != nil {
				return harness.Usage(err)
			}
			var parts []compare.Part
			for _, dir := range args {
				c, err := compare.ReadDir(dir)
				if err != nil {
					return harness.Usage(err)
				}
				parts = append(parts, compare.Part{Dir: dir, Comparison: c})
			}
			whole, err := compare.Merge(parts, out)
			if err != nil {
				return harness.Usage(err)
			}
			// A directory that cannot be made does not keep the verdict back: conclude says what it could not write.
			if err := os.MkdirAll(out, 0o755); err != nil {
				fmt.Fprintf(how.errOut, "lockcheck: warning: %v\n", err)
			}
			return show.conclude(whole, out, how)
		},
	}
	cmd.Flags().StringVar(&out, "out", "lockcheck-merged", "directory for the files of the whole")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print compare.json on standard output, and nothing else there")
	cmd.Flags().BoolVar(&quiet, "quiet", false, "print the last line only")
	show.bind(cmd.Flags())
	return cmd
}
