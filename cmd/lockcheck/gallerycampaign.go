package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/pflag"

	"lockcheck/checker/history"
	"lockcheck/clusters"
	"lockcheck/cmd/internal/campaign"
	"lockcheck/cmd/internal/harness"
	"lockcheck/cmd/internal/scenarios"
	"lockcheck/reports/compare"
	"lockcheck/reports/compare/config"
	"lockcheck/reports/gallery"
	"lockcheck/reports/words"
)

// notInGalleryCampaigns are the flags of gallery that a campaign cannot have.
var notInGalleryCampaigns = []notInCampaign{
	{"jobs", "a pod makes one run; --parallel says how many pods run at a time"},
	{"resume", "--attach-job comes back to a campaign"},
	{"print", "it runs nothing"},
	{"until-known", "each pod makes one run, and none knows what the others found"},
	{"rates", "it runs nothing"},
	{"file", "pods have the scenarios of lockcheck only"},
}

// runCampaign runs scenarios as a campaign, a pod for each run, or comes back to one.
func (f *galleryFlags) runCampaign(ctx context.Context, chosen []config.Scenario, given *pflag.FlagSet, out output) error {
	if f.campaign.job != "" {
		return f.campaign.comeBack(ctx, galleryName, readGalleryPlan, f.run.Out, out)
	}
	return f.campaign.begin(ctx, &galleryCampaign{f.newRunOf(chosen, given)}, f.run.Out, out)
}

// galleryCampaign is a gallery that a campaign runs.
type galleryCampaign struct{ galleryRun }

// galleryName is the command that runs scenarios, in a Job and in pods.
const galleryName = "gallery"

func (g *galleryCampaign) command() string { return galleryName }
func (g *galleryCampaign) shards() int     { return len(g.record.Items) * max(g.record.Repeat, 1) }

// galleryShard is the record of one run of a gallery, that of a shard: the first runs of all items come before the second ones. position is that of its item.
func galleryShard(r gallery.Record, shard int) (one gallery.Record, position int) {
	position = (shard - 1) % len(r.Items)
	item := r.Items[position]
	r.Seed += int64((shard - 1) / len(r.Items))
	r.Repeat, item.Repeated = 0, nil
	item.Command = append(slices.Clone(item.Command[:len(item.Command)-1]), fmt.Sprintf("--seed=%d", r.Seed))
	r.Items = []gallery.Item{item}
	return r, position
}

func (g *galleryCampaign) described() string {
	return fmt.Sprintf("%s, seed %d", history.Counted(int64(g.shards()), "run", "runs"), g.record.Seed)
}

func (g *galleryCampaign) plan() (text []byte, digest string, err error) {
	plan := g.record
	plan.Interrupted = true // nothing was run yet
	plan.ExitCode = plan.Code()
	var written bytes.Buffer
	err = plan.Write(&written)
	sum := sha256.Sum256(written.Bytes())
	return written.Bytes(), hex.EncodeToString(sum[:]), err
}

// readGalleryPlan is the gallery whose plan a Job has, of the scenarios of this lockcheck: the plan's digest shows whether it is the same.
func readGalleryPlan(plan []byte) (campaigned, error) {
	record, err := gallery.Parse(plan)
	if err != nil {
		return nil, err
	}
	if record.Lockcheck != harness.Version() {
		return nil, fmt.Errorf("it was made by lockcheck %q, this is %s: come back with that one", record.Lockcheck, harness.Version())
	}
	items := record.Items
	record.Items, record.Interrupted = nil, false
	g := &galleryCampaign{galleryRun{record: record}}
	for _, item := range items {
		s, err := scenarios.Named(item.Name, known())
		if err != nil {
			return nil, err
		}
		half := s.Half(item.Half)
		g.add(s, half, runFlagsOf(half, record.Provider))
	}
	return g, nil
}

func (g *galleryCampaign) createDir(out string, now time.Time) (string, error) {
	return gallery.CreateDir(out, now)
}

func (g *galleryCampaign) accept(dir string, outcome campaign.Outcome) error {
	part, err := gallery.Read(dir)
	if outcome.ExitCode >= exitUsage && (err != nil || part.Interrupted) {
		return shardFailed{outcome}
	}
	if err != nil {
		return harness.Usage(err)
	}
	if part.Interrupted || len(part.Items) == 1 && part.Items[0].Run == nil {
		return refusedShard(outcome, "are not whole")
	}
	one, _ := galleryShard(g.record, outcome.Shard)
	want := one.Items[0]
	if len(part.Items) != 1 || part.Items[0].Name != want.Name || part.Items[0].Half != want.Half || !slices.Equal(part.Items[0].Command, want.Command) {
		return refusedShard(outcome, "are not those of %s, %s", want.Name, want.Half)
	}
	run := part.Items[0].Run
	if name := leadsOut(run.Dir, run.Report); name != "" {
		return refusedShard(outcome, "lead out of their directory, to %q", name)
	}
	if run.ExitCode < 0 || run.ExitCode > 255 { // the gallery may end with it
		return refusedShard(outcome, "have the exit code %d", run.ExitCode)
	}
	return nil
}

// conclude judges what the pods' runs found; what they made of it themselves does not matter.
func (g *galleryCampaign) conclude(dir string, results map[int]string, missing []campaign.Missing, out output) (heldUp []string, err error) {
	g.dir = dir
	runs := make([][]compare.Run, len(g.record.Items))
	for _, shard := range slices.Sorted(maps.Keys(results)) { // in the order of the seeds of each item
		from := results[shard]
		if err := g.accept(from, campaign.Outcome{Shard: shard}); err != nil { // it lay here, where anything may have changed it
			return nil, fmt.Errorf("%w: %w; if %s was changed, remove that directory: its shard is missing then", errNotConcluded, err, filepath.Dir(from))
		}
		part, err := gallery.Read(from)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errNotConcluded, harness.Usage(err))
		}
		below, err := filepath.Rel(dir, from)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errNotConcluded, err)
		}
		run := part.Items[0].Run
		one, position := galleryShard(g.record, shard)
		run.Seed = one.Seed
		for _, name := range []*string{&run.Dir, &run.Report} {
			if *name != "" {
				*name = path.Join(filepath.ToSlash(below), *name)
			}
		}
		runs[position] = append(runs[position], *run)
	}
	for i := range g.record.Items {
		item := &g.record.Items[i]
		item.InPod = len(runs[i]) > 0
		item.Take(g.halves[i], runs[i])
	}
	for _, m := range missing {
		if _, position := galleryShard(g.record, m.Shard); g.record.Items[position].Outcome == gallery.NotRun {
			g.record.Items[position].Reason = m.Why
		}
	}
	if err := g.save(); err != nil { // what the pods gave is here, and nothing but the Job knows what of
		return nil, fmt.Errorf("%w: %w: %w", errNotConcluded, clusters.ErrUnavailable, err)
	}
	if err := g.show(out); err != nil {
		return nil, fmt.Errorf("cannot show the gallery: %w", err)
	}
	return g.record.HeldUp(), g.exit()
}

func (g *galleryCampaign) missed(dir string, missing []campaign.Missing) string {
	if len(missing) == 0 {
		return ""
	}
	return "to make what is missing here: " + words.ShellWords([]string{"lockcheck", galleryName, "--resume=" + dir})
}

// shardOfGallery makes one run of a gallery, as a gallery of that alone that was interrupted before it.
func shardOfGallery(ctx context.Context, plan []byte, shard, _ int, dir string) (campaign.Outcome, error) {
	g, err := gallery.Parse(plan)
	if err == nil && (shard < 1 || shard > len(g.Items)*max(g.Repeat, 1)) {
		err = fmt.Errorf("it has no run %d", shard)
	}
	if err != nil {
		return unreadablePlan(shard, err), nil
	}
	if other, ok := otherProgram(shard, g.Lockcheck); ok {
		return other, nil
	}
	g, _ = galleryShard(g, shard)
	outcome, err := makeShard(ctx, galleryName, dir, gallery.JSONFile, g.Write)
	outcome.Shard = shard
	if err != nil || !campaign.MayRunAgain() {
		return outcome, err
	}
	made, err := gallery.Read(dir)
	if err != nil || len(made.Items) != 1 || made.Items[0].Run == nil {
		return outcome, nil // the exit code says why there is none
	}
	item := &made.Items[0]
	s, err := scenarioOf(*item)
	if err != nil {
		return outcome, err
	}
	item.InPod = true
	if item.Take(s.Half(item.Half), []compare.Run{*item.Run}); item.Outcome != gallery.Inconclusive {
		return outcome, nil
	}
	return outcome, worthAgain(item.Run.HeldUp())
}
