package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"lockcheck/clusters"
	"lockcheck/cmd/internal/harness"
	"lockcheck/reports/compare"
	"lockcheck/reports/index"
)

func mergeCommand() *cobra.Command {
	var show showFlags
	var dir string
	var asJSON, quiet bool
	cmd := &cobra.Command{
		Use:   "merge DIR...",
		Short: "Join the shards of a comparison",
		Long: "merge reads the compare.json that lockcheck compare --shard wrote to each directory. It judges all cells again, and writes\n" +
			"one table, page and JUnit file of the whole matrix. A cell that is in no directory is inconclusive. The exit codes are\n" +
			"those of compare.",
		Example: "  lockcheck merge part-1/compare-* part-2/compare-* --out=whole",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return harness.Usage(fmt.Errorf("merge takes the directories of comparisons, such as lockcheck-out/compare-*; none was given"))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			out := output{asJSON, quiet, show.open, cmd.OutOrStdout(), cmd.ErrOrStderr()}
			if err := show.check(out); err != nil {
				return harness.Usage(err)
			}
			dirs, err := partDirs(args)
			if err != nil {
				return err
			}
			var parts []compare.Part
			for _, part := range dirs {
				c, err := compare.ReadDir(part)
				if err != nil {
					return harness.Usage(err)
				}
				parts = append(parts, compare.Part{Dir: part, Comparison: c})
			}
			whole, err := compare.Merge(parts, dir)
			if err != nil {
				return harness.Usage(err)
			}
			// A directory that cannot be made does not keep the verdict back: conclude says what it could not write.
			_ = os.MkdirAll(dir, 0o755)
			err = show.conclude(whole, dir, out)
			warn(out.errOut, index.Update(filepath.Dir(filepath.Clean(dir)), time.Now()))
			return err
		},
	}
	cmd.Flags().StringVar(&dir, "out", "lockcheck-merged", "directory for the files of the whole")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print compare.json on standard output, and nothing else there")
	cmd.Flags().BoolVar(&quiet, "quiet", false, "print the last line only")
	show.bind(cmd.Flags())
	return cmd
}

// partDirs are the directories that the arguments name. A shell leaves a pattern that matches nothing as it is: that is no
// directory with an odd name, but a job that ended before it wrote one.
func partDirs(args []string) (dirs []string, err error) {
	for _, arg := range args {
		if _, err := os.Lstat(arg); err == nil || !strings.ContainsAny(arg, "*?[") {
			dirs = append(dirs, arg)
			continue
		}
		matches, err := filepath.Glob(arg)
		switch {
		case err != nil:
			return nil, harness.Usage(fmt.Errorf("%s: %w", arg, err))
		case len(matches) == 0:
			return nil, fmt.Errorf("%w: the pattern %s matched nothing: no shard left a comparison; look at their jobs", clusters.ErrUnavailable, arg)
		}
		dirs = append(dirs, matches...)
	}
	return dirs, nil
}
