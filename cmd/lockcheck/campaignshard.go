package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"

	"lockcheck/clusters"
	"lockcheck/cmd/internal/campaign"
	"lockcheck/cmd/internal/harness"
	"lockcheck/reports/compare"
	"lockcheck/reports/rundir"
)

// campaignShardCommand is hidden: pods of a campaign run it.
func campaignShardCommand() *cobra.Command {
	return &cobra.Command{
		Use: campaign.ShardCommand + " SHARDS", Short: "run one shard of a campaign, and serve its results", Hidden: true, Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			shards, err := strconv.Atoi(args[0])
			if err != nil {
				return harness.Usage(err)
			}
			ctx, stop := harness.UntilEnded(cmd.Context())
			defer stop()
			return campaign.RunShard(ctx, shards, shardOfComparison)
		},
	}
}

// traceable is an error for a version that does not say what the program was built from: another of that version may be any other.
func traceable(version string) error {
	if version == "(devel)" || version == "unknown" || version == "" {
		return harness.Usage(fmt.Errorf("this lockcheck was built without its commit (%s), so that nobody can tell whether --image has the same: build both in a Git repository, without -buildvcs=false", version))
	}
	return nil
}

// maxShardLog bounds what is kept of what a shard printed: enough for what keeps it from running.
const maxShardLog = 8 << 10

// shardOfComparison makes the runs of one shard, as a comparison that was interrupted before its first run is gone on with.
func shardOfComparison(ctx context.Context, plan []byte, shard, shards int, dir string) (campaign.Outcome, error) {
	outcome := campaign.Outcome{Shard: shard}
	c, err := compare.Read(bytes.NewReader(plan))
	if err != nil {
		outcome.ExitCode, outcome.Log = exitUsage, fmt.Sprintf("the plan cannot be read: %v", err)
		return outcome, nil
	}
	if err := traceable(harness.Version()); err != nil || c.Lockcheck != harness.Version() {
		outcome.ExitCode, outcome.Log = exitUsage, fmt.Sprintf("the campaign was made by lockcheck %s, and --image has lockcheck %s: use an image of the same", c.Lockcheck, harness.Version())
		return outcome, nil
	}
	c.Shard = compare.Shard{Index: shard, Count: shards}
	if err := os.MkdirAll(filepath.Join(dir, compare.RunsDir), 0o755); err != nil {
		return outcome, err
	}
	if err := rundir.WriteAtomically(filepath.Join(dir, compare.JSONFile), c.Write); err != nil {
		return outcome, err
	}
	program, err := os.Executable()
	if err != nil {
		return outcome, err
	}
	tail := &harness.Tail{Max: maxShardLog}
	cmd := harness.Process(ctx, program, "compare", "--resume="+dir, "--jobs=1")
	cmd.Stdout, cmd.Stderr = os.Stdout, io.MultiWriter(os.Stderr, tail)
	err = harness.RunProcess(cmd)
	switch {
	case ctx.Err() != nil:
		return outcome, errors.New("ended before its runs were")
	case cmd.ProcessState == nil || cmd.ProcessState.ExitCode() < 0:
		return outcome, fmt.Errorf("the runs were ended from outside: %w", err)
	}
	outcome.ExitCode, outcome.Log = cmd.ProcessState.ExitCode(), tail.String()
	return outcome, doubtStalled(dir, campaign.MayRunAgain())
}

// doubtStalled is an error if the harness of a shard's runs was held up and they are to be made again, by another pod. Where they may not be,
// those that found nothing are inconclusive.
func doubtStalled(dir string, again bool) error {
	c, err := compare.ReadDir(dir)
	if err != nil {
		return nil // the exit code says why there is none
	}
	if why := c.WorthAgain(); again && why != "" {
		return fmt.Errorf("%w: the harness %s, and the runs found nothing", clusters.ErrUnavailable, why)
	}
	if !c.DoubtStalled() {
		return nil
	}
	return compare.WriteFiles(dir, c, "")
}
