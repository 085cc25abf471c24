package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"lockcheck/checker/history"
	"lockcheck/clusters"
	"lockcheck/cmd/internal/campaign"
	"lockcheck/cmd/internal/harness"
	"lockcheck/reports/words"
)

// campaigned is what a campaign makes: a comparison, a cell a shard, or a gallery, a run a shard.
type campaigned interface {
	command() string // of lockcheck, by which a campaign is come back to
	described() string
	shards() int
	// plan is all of it, without any run, and its digest.
	plan() (text []byte, digest string, err error)
	createDir(out string, now time.Time) (string, error)
	// accept is an error unless a directory has the results of one shard of this plan.
	accept(dir string, outcome campaign.Outcome) error
	// conclude joins the shards that were fetched, and shows the whole. Its lines name runs whose harness was held up.
	conclude(dir string, results map[int]string, missing []campaign.Missing, out output) (heldUp []string, err error)
	// missed is what to do about shards that are missing; "" if nothing can be said.
	missed(dir string, missing []campaign.Missing) string
}

// kubeCampaign is a campaign at work, and what it makes.
type kubeCampaign struct {
	api   *campaign.API
	c     *campaign.Campaign
	of    campaigned
	dir   string
	fresh bool // it was begun here
	out   output
	flag  campaignFlags
}

// campaignFile names, in the directory of what a campaign makes, the campaign.
const campaignFile = "campaign.json"

// shardsDir has the shards of a campaign, in the directory of what it makes.
const shardsDir = "shards"

// begin makes a campaign, and stays with it until its end.
func (f campaignFlags) begin(ctx context.Context, of campaigned, dirs string, out output) error {
	if err := traceable(harness.Version()); err != nil {
		return err
	}
	api, err := campaign.Connect()
	if err != nil {
		return err
	}
	now := time.Now()
	c := &campaign.Campaign{Name: campaign.NewName(now), Namespace: f.in(api), Server: api.Server, Command: of.command(), Shards: of.shards(), Privileged: true}
	k := &kubeCampaign{api: api, c: c, of: of, fresh: true, out: out, flag: f}
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
	if err := k.directory(dirs, now); err != nil {
		return errors.Join(harness.Usage(fmt.Errorf("--out=%s: %w", dirs, err)), k.delete())
	}
	release, err := hold(k.dir)
	if err != nil {
		return errors.Join(err, k.delete())
	}
	defer release()
	k.say("%s, as Job %s in namespace %s, at most %s at a time, in %s", of.described(), c.Name, c.Namespace, history.Counted(int64(min(f.options.Parallel, c.Shards)), "pod", "pods"), k.dir)
	return k.followAndConclude(ctx)
}

// comeBack comes back to a campaign, with what reads its plan: into the directory that it had, or, on another machine, into a new one.
func (f campaignFlags) comeBack(ctx context.Context, command string, read func(plan []byte) (campaigned, error), dirs string, out output) error {
	api, err := campaign.Connect()
	if err != nil {
		return err
	}
	k := &kubeCampaign{api: api, out: out, flag: f}
	finding, stop := harness.UntilEnded(ctx)
	c, text, err := api.Find(finding, f.in(api), f.job, k.patient())
	interrupted := finding.Err() != nil
	stop()
	switch {
	case interrupted:
		return fmt.Errorf("%w: the Job %s was not found yet, and nothing was changed", harness.ErrInterrupted, f.job)
	case err != nil:
		return err
	case c.Command != command:
		return harness.Usage(fmt.Errorf("the Job %s was made by lockcheck %q: come back to it with that command", c.Name, c.Command))
	}
	if k.of, err = read(text); err != nil {
		return harness.Usage(fmt.Errorf("the plan of the Job %s: %w", c.Name, err))
	}
	_, digest, err := k.of.plan()
	if err != nil {
		return err
	}
	if digest != c.Digest || k.of.shards() != c.Shards {
		return harness.Usage(fmt.Errorf("the Job %s and its ConfigMap do not belong together", c.Name))
	}
	k.c, k.dir = c, campaignDir(dirs, *c)
	if k.dir == "" {
		if err := k.directory(dirs, time.Now()); err != nil {
			return harness.Usage(fmt.Errorf("--out=%s: %w", dirs, err))
		}
	}
	release, err := hold(k.dir)
	if err != nil {
		return err
	}
	defer release()
	k.say("back at Job %s in namespace %s, %s, in %s", c.Name, c.Namespace, k.of.described(), k.dir)
	return k.followAndConclude(ctx)
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

// submit makes the Job, with the plan of all shards.
func (k *kubeCampaign) submit(ctx context.Context) (err error) {
	var plan []byte
	if plan, k.c.Digest, err = k.of.plan(); err != nil {
		return err
	}
	return k.api.Submit(ctx, k.c, k.flag.options, plan)
}

// directory makes that of the results, and says in it which campaign they come of.
func (k *kubeCampaign) directory(out string, now time.Time) (err error) {
	if k.dir, err = k.of.createDir(out, now); err != nil {
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

// campaignDir is the directory, among those in out, that a campaign writes to; "" if there is none.
func campaignDir(out string, c campaign.Campaign) string {
	files, _ := filepath.Glob(filepath.Join(out, "*-*", campaignFile))
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
