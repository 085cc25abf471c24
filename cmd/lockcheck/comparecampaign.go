package main

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/pflag"

	"lockcheck/checker/history"
	"lockcheck/cmd/internal/campaign"
	"lockcheck/cmd/internal/harness"
	"lockcheck/reports/compare"
	"lockcheck/reports/index"
)

// notInCompareCampaigns are the flags of compare that a campaign cannot have.
var notInCompareCampaigns = []notInCampaign{
	{"shard", "a campaign makes its own shards"},
	{"jobs", "a pod makes one run after another; --parallel says how many pods run at a time"},
	{"fail-fast", "shards know nothing of each other"},
	{"resume", "--attach-job comes back to a campaign"},
	{"only-failed", "it goes on with a comparison of this machine"},
	{"check", "it runs nothing"},
	{"attach", "its lock clients would run here"},
}

// runCampaign makes the comparison as a campaign, or comes back to one.
func (f *compareFlags) runCampaign(ctx context.Context, given *pflag.FlagSet, out output) error {
	if f.campaign.job != "" {
		return f.campaign.comeBack(ctx, compareName, f.campaignOf, f.run.Out, out)
	}
	a, err := f.asked(given)
	if err != nil {
		return harness.Usage(err)
	}
	if err := notAttached(a.tasks); err != nil {
		return harness.Usage(err)
	}
	planner := planner{seed: a.Seed, seen: map[place]error{}, onPaper: true} // servers are looked for where they run
	if err := planner.planAll(ctx, a.spec, a.tasks); err != nil {
		return err
	}
	if err := notLocal(given); err != nil {
		return harness.Usage(err)
	}
	if f.list {
		return listTasks(out, a.tasks, a.Seed)
	}
	a.StartedAt = time.Now().UTC()
	a.Shard = compare.Shard{Index: 1, Count: campaignShards(a.Comparison, f.campaign.options.Parallel)}
	return f.campaign.begin(ctx, &compareCampaign{a.Comparison, f.show}, f.run.Out, out)
}

// campaignOf is the comparison whose plan a Job has.
func (f *compareFlags) campaignOf(plan []byte) (campaigned, error) {
	c, err := compare.Read(bytes.NewReader(plan))
	return &compareCampaign{c, f.show}, err
}

// compareCampaign is a comparison that a campaign makes.
type compareCampaign struct {
	whole *compare.Comparison // without any run
	show  showFlags
}

// compareName is the command that makes comparisons, in a Job and in pods.
const compareName = "compare"

func (c *compareCampaign) command() string { return compareName }
func (c *compareCampaign) shards() int     { return c.whole.Shard.Count } // its plan has it

// campaignShards is in how many shards a comparison is divided that so many pods make at a time: one for each cell, where a pod's start is shared by the
// runs of its cell, or as many for each as it takes to have work for all pods.
func campaignShards(c *compare.Comparison, parallel int) int {
	cells := len(c.Matrix)
	return min(cells*((parallel+cells-1)/cells), compare.Units(c.Basis.Tasks(compare.Whole)))
}

func (c *compareCampaign) described() string {
	return fmt.Sprintf("%s in %s, seed %d", history.Counted(int64(len(c.whole.Matrix)), "cell", "cells"), history.Counted(int64(c.shards()), "part", "parts"), c.whole.Seed)
}

func (c *compareCampaign) plan() (text []byte, digest string, err error) {
	c.whole.Interrupted = true // nothing was run yet
	c.whole.Finish()
	var written bytes.Buffer
	err = c.whole.Write(&written)
	return written.Bytes(), c.whole.Basis.Digest, err
}

func (c *compareCampaign) createDir(out string, now time.Time) (string, error) {
	return compare.CreateDir(out, now)
}

func (c *compareCampaign) accept(dir string, outcome campaign.Outcome) error {
	part, err := compare.ReadDir(dir)
	if outcome.ExitCode >= exitUsage && (err != nil || part.Interrupted) {
		return shardFailed{outcome}
	}
	switch {
	case err != nil:
		return harness.Usage(err)
	case part.Basis.Digest != c.whole.Basis.Digest, part.Shard != compare.Shard{Index: outcome.Shard, Count: c.shards()}:
		return refusedShard(outcome, "are not of this campaign")
	case part.Interrupted:
		return refusedShard(outcome, "are not whole")
	case !slices.Equal(part.Matrix, c.whole.Matrix), !c.own(part):
		return refusedShard(outcome, "are not those of its runs")
	}
	for _, cell := range part.Cells {
		names := []string{cell.Stopped}
		for _, run := range cell.Runs {
			names = append(names, run.Dir, run.Report)
		}
		if name := leadsOut(names...); name != "" {
			return refusedShard(outcome, "lead out of their directory, to %q", name)
		}
	}
	return nil
}

// own reports whether a part has the cells of its shard, and no run of another.
func (c *compareCampaign) own(part *compare.Comparison) bool {
	tasks := c.whole.Basis.Tasks(part.Shard)
	return slices.EqualFunc(part.Cells, tasks, func(r compare.Result, t compare.Task) bool {
		return r.Cell == t.Cell && !slices.ContainsFunc(r.Runs, func(run compare.Run) bool {
			return !slices.Contains(t.Make, int(run.Seed-c.whole.Basis.Seed)+1)
		})
	})
}

func (c *compareCampaign) missed(_ string, missing []campaign.Missing) string {
	if !slices.ContainsFunc(missing, func(m campaign.Missing) bool { return m.Elsewhere }) {
		return ""
	}
	return "lockcheck merge joins these shards with those that another lockcheck has fetched"
}

// conclude joins the shards, as lockcheck merge does.
func (c *compareCampaign) conclude(dir string, results map[int]string, _ []campaign.Missing, out output) (heldUp []string, err error) {
	var parts []compare.Part
	for _, shard := range slices.Sorted(maps.Keys(results)) {
		part, err := compare.ReadDir(results[shard])
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errNotConcluded, harness.Usage(err))
		}
		if part.Basis.Digest == c.whole.Basis.Digest { // one plan in memory, not one for each shard
			part.Basis, part.Matrix = c.whole.Basis, c.whole.Matrix
		}
		parts = append(parts, compare.Part{Dir: results[shard], Comparison: part})
	}
	whole, err := compare.Merge(parts, dir)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNotConcluded, harness.Usage(err))
	}
	err = c.show.conclude(whole, dir, out)
	warn(out.errOut, index.Update(filepath.Dir(dir), time.Now()))
	return whole.Stalled(), err
}
