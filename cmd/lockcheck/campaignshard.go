package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"lockcheck/clusters"
	"lockcheck/cmd/internal/campaign"
	"lockcheck/cmd/internal/harness"
	"lockcheck/reports/compare"
	"lockcheck/reports/rundir"
)

// shardWork is what the pods of a campaign do, by the command of lockcheck that made it.
var shardWork = map[string]campaign.Work{compareName: shardOfComparison, galleryName: shardOfGallery}

// campaignShardCommand is hidden: pods of a campaign run it.
func campaignShardCommand() *cobra.Command {
	return &cobra.Command{
		Use: campaign.ShardCommand + " COMMAND SHARDS", Short: "run one shard of a campaign, and serve its results", Hidden: true, Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			work, shards := shardWork[args[0]], 0
			if _, err := fmt.Sscan(args[1], &shards); err != nil || work == nil {
				return harness.Usage(fmt.Errorf("%q: a shard has a command of lockcheck (compare or gallery), and a number of shards", args))
			}
			ctx, stop := harness.UntilEnded(cmd.Context())
			defer stop()
			return campaign.RunShard(ctx, shards, work)
		},
	}
}

// traceable is an error for a version that does not say what the program was built from: another of that version may be any other.
func traceable(version string) error {
	if version == "(devel)" || version == "unknown" || version == "" {
		return harness.Usage(fmt.Errorf("this lockcheck was built without its commit (%s), so it cannot be known whether --image has the same: build both in a Git repository, without -buildvcs=false", version))
	}
	return nil
}

// maxShardLog bounds what is kept of what a shard printed: enough for what keeps it from running.
const maxShardLog = 8 << 10

// unreadablePlan is how the work of a shard ends that cannot know what it is.
func unreadablePlan(shard int, err error) campaign.Outcome {
	return campaign.Outcome{Shard: shard, ExitCode: exitUsage, Log: fmt.Sprintf("the plan cannot be read: %v", err)}
}

// otherProgram is how the work of a shard ends if another lockcheck made its plan.
func otherProgram(shard int, made string) (campaign.Outcome, bool) {
	if traceable(harness.Version()) == nil && made == harness.Version() {
		return campaign.Outcome{}, false
	}
	why := fmt.Sprintf("the campaign was made by lockcheck %s, and --image has lockcheck %s: use an image of the same", made, harness.Version())
	return campaign.Outcome{Shard: shard, ExitCode: exitUsage, Log: why}, true
}

// shardOfComparison makes the runs of one shard, as a comparison that was interrupted before its first run is gone on with.
func shardOfComparison(ctx context.Context, plan []byte, shard, shards int, dir string) (campaign.Outcome, error) {
	c, err := compare.Read(bytes.NewReader(plan))
	if err != nil {
		return unreadablePlan(shard, err), nil
	}
	if other, is := otherProgram(shard, c.Lockcheck); is {
		return other, nil
	}
	c.Shard = compare.Shard{Index: shard, Count: shards}
	outcome, err := makeShard(ctx, compareName, dir, compare.JSONFile, c.Write)
	outcome.Shard = shard
	if err != nil {
		return outcome, err
	}
	return outcome, doubtStalled(dir, campaign.MayRunAgain())
}

// makeShard makes the runs of a shard by a command of lockcheck, from the record of what was interrupted before its first run. An error is
// that it was ended.
func makeShard(ctx context.Context, command, dir, file string, record func(io.Writer) error) (outcome campaign.Outcome, err error) {
	if err := os.MkdirAll(filepath.Join(dir, compare.RunsDir), 0o755); err != nil {
		return outcome, err
	}
	if err := rundir.WriteAtomically(filepath.Join(dir, file), record); err != nil {
		return outcome, err
	}
	program, err := os.Executable()
	if err != nil {
		return outcome, err
	}
	tail := &harness.Tail{Max: maxShardLog}
	cmd := harness.Process(ctx, program, command, "--resume="+dir, "--jobs=1")
	cmd.Stdout, cmd.Stderr = os.Stdout, io.MultiWriter(os.Stderr, tail)
	err = harness.RunProcess(cmd)
	switch {
	case ctx.Err() != nil:
		return outcome, errors.New("ended before its runs were")
	case cmd.ProcessState == nil || cmd.ProcessState.ExitCode() < 0:
		return outcome, fmt.Errorf("the runs were ended from outside: %w", err)
	}
	outcome.ExitCode, outcome.Log = cmd.ProcessState.ExitCode(), tail.String()
	return outcome, nil
}

// doubtStalled is an error if the harness of a shard's runs was held up and they are to be made again, by another pod. Where they may not be,
// those that found nothing are inconclusive.
func doubtStalled(dir string, again bool) error {
	c, err := compare.ReadDir(dir)
	if err != nil {
		return nil // the exit code says why there is none
	}
	if again {
		if err := worthAgain(c.WorthAgain()); err != nil {
			return err
		}
	}
	if !c.DoubtStalled() {
		return nil
	}
	return compare.WriteFiles(dir, c, "")
}

// worthAgain is an error for a harness that was held up; heldUp says how, "" if it was not.
func worthAgain(heldUp string) error {
	if heldUp == "" {
		return nil
	}
	return fmt.Errorf("%w: the harness %s, and what the runs did not find may be missing because of that", clusters.ErrUnavailable, heldUp)
}
