package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/pflag"

	"lockcheck/checker/history"
	"lockcheck/clusters"
	"lockcheck/cmd/internal/campaign"
	"lockcheck/cmd/internal/harness"
	"lockcheck/reports/compare"
	"lockcheck/reports/words"
)

// kubeCampaign is a campaign at work, and the comparison that it makes.
type kubeCampaign struct {
	api   *campaign.API
	c     *campaign.Campaign
	plan  *compare.Comparison
	dir   string
	fresh bool // it was begun here
	out   output
	show  showFlags
	flag  campaignFlags
}

// campaignFile names, in a comparison's directory, the campaign that it was made by.
const campaignFile = "campaign.json"

// shardsDir has the shards of a campaign, in the comparison's directory.
const shardsDir = "shards"

// runCampaign makes the comparison as a campaign, or comes back to one.
func (f *compareFlags) runCampaign(ctx context.Context, given *pflag.FlagSet, out output) error {
	if f.campaign.job != "" {
		return f.attachCampaign(ctx, out)
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
	if given.Changed("provider") && given.Lookup("provider").Value.String() != "local" {
		return harness.Usage(fmt.Errorf("--provider=%s: a pod has no engine; what runs in it is the provider local", given.Lookup("provider").Value))
	}
	if f.list {
		return listTasks(out, a.tasks, a.Seed)
	}
	if err := traceable(harness.Version()); err != nil {
		return err
	}
	api, err := campaign.Connect()
	if err != nil {
		return err
	}
	now := time.Now()
	c := &campaign.Campaign{Name: campaign.NewName(now), Namespace: f.campaign.in(api), Server: api.Server, Digest: a.Basis.Digest, Shards: len(a.tasks), Privileged: true}
	k := &kubeCampaign{api: api, c: c, plan: a.Comparison, fresh: true, out: out, show: f.show, flag: f.campaign}
	k.plan.StartedAt = now.UTC()
	submitting, stop := harness.UntilEnded(ctx)
	err = k.submit(submitting)
	interrupted := submitting.Err() != nil
	stop()
	if interrupted {
		return errors.Join(harness.ErrInterrupted, k.delete())
	}
	if err != nil {
		return err
	}
	if err := k.directory(f.run.Out, now); err != nil {
		return errors.Join(harness.Usage(fmt.Errorf("--out=%s: %w", f.run.Out, err)), k.delete())
	}
	release, err := hold(k.dir)
	if err != nil {
		return errors.Join(err, k.delete())
	}
	defer release()
	k.say("%s, seed %d, as Job %s in namespace %s, at most %d pods at a time, in %s", history.Counted(int64(c.Shards), "cell", "cells"), a.Seed, c.Name, c.Namespace, min(f.campaign.options.Parallel, c.Shards), k.dir)
	return k.followAndMerge(ctx)
}

func (f campaignFlags) in(api *campaign.API) string {
	if f.namespace != "" {
		return f.namespace
	}
	return api.Namespace
}

func (k *kubeCampaign) say(format string, args ...any) {
	if !k.out.quiet {
		fmt.Fprintln(k.out.errOut, words.Plain("lockcheck: "+fmt.Sprintf(format, args...))) // much of it was written by others
	}
}

// patient waits for an API server that is away, and says so.
func (k *kubeCampaign) patient() campaign.Patient {
	return campaign.Patient{Notice: func(line string) { k.say("%s", line) }, Every: pollEvery}
}

// submit makes the Job; its plan is this comparison, without any run.
func (k *kubeCampaign) submit(ctx context.Context) error {
	var text bytes.Buffer
	k.plan.Interrupted = true // nothing was run yet
	k.plan.Finish()
	if err := k.plan.Write(&text); err != nil {
		return err
	}
	return k.api.Submit(ctx, k.c, k.flag.options, text.Bytes())
}

// directory makes that of the comparison, and says in it which campaign makes it.
func (k *kubeCampaign) directory(out string, now time.Time) (err error) {
	if k.dir, err = compare.CreateDir(out, now); err != nil {
		return err
	}
	return k.record()
}

func (k *kubeCampaign) record() error {
	text, err := json.MarshalIndent(k.c, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(k.dir, campaignFile), append(text, '\n'), 0o644)
}

// attachCampaign comes back to a campaign: into the directory that it had, or, on another machine, into a new one.
func (f *compareFlags) attachCampaign(ctx context.Context, out output) error {
	api, err := campaign.Connect()
	if err != nil {
		return err
	}
	k := &kubeCampaign{api: api, out: out, show: f.show, flag: f.campaign}
	finding, stop := harness.UntilEnded(ctx)
	c, text, err := api.Find(finding, f.campaign.in(api), f.campaign.job, k.patient())
	interrupted := finding.Err() != nil
	stop()
	if interrupted {
		return fmt.Errorf("%w: the Job %s was not found yet, and nothing was changed", harness.ErrInterrupted, f.campaign.job)
	}
	if err != nil {
		return err
	}
	plan, err := compare.Read(bytes.NewReader(text))
	if err != nil {
		return harness.Usage(fmt.Errorf("the plan of the Job %s: %w", c.Name, err))
	}
	if plan.Basis.Digest != c.Digest || len(plan.Matrix) != c.Shards {
		return harness.Usage(fmt.Errorf("the Job %s and its ConfigMap do not belong together", c.Name))
	}
	k.c, k.plan, k.dir = c, plan, campaignDir(f.run.Out, *c)
	if k.dir == "" {
		if err := k.directory(f.run.Out, time.Now()); err != nil {
			return harness.Usage(fmt.Errorf("--out=%s: %w", f.run.Out, err))
		}
	}
	release, err := hold(k.dir)
	if err != nil {
		return err
	}
	defer release()
	k.say("back at Job %s in namespace %s, %s, in %s", c.Name, c.Namespace, history.Counted(int64(c.Shards), "cell", "cells"), k.dir)
	return k.followAndMerge(ctx)
}

// campaignDir is the directory, among those in out, that a campaign writes to; "" if there is none.
func campaignDir(out string, c campaign.Campaign) string {
	files, _ := filepath.Glob(filepath.Join(out, "compare-*", campaignFile))
	for _, file := range files {
		var other campaign.Campaign
		text, err := os.ReadFile(file)
		if err == nil && json.Unmarshal(text, &other) == nil && other.Name == c.Name && other.Namespace == c.Namespace && other.Digest == c.Digest {
			return filepath.Dir(file)
		}
	}
	return ""
}

func (k *kubeCampaign) delete() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := k.api.Delete(ctx, k.c, k.patient()); err != nil {
		return fmt.Errorf("%w: %w", clusters.ErrLeft, err)
	}
	return nil
}
