package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"lockcheck/checker/history"
	"lockcheck/clusters"
	"lockcheck/cmd/internal/campaign"
	"lockcheck/cmd/internal/harness"
	"lockcheck/reports/compare"
	"lockcheck/reports/index"
	"lockcheck/reports/rundir"
	"lockcheck/reports/terminal"
	"lockcheck/reports/words"
)

// onKubernetes is the value of --on that makes a campaign of a comparison.
const onKubernetes = "kubernetes"

// campaignFlags say where and how the pods of a campaign run.
type campaignFlags struct {
	on, job, namespace string
	startTimeout       time.Duration
	options            campaign.Options
}

// ofCampaigns are the flags that mean nothing without --on or --attach-job.
var ofCampaigns = []string{"namespace", "parallel", "cpu", "memory", "keep", "start-timeout"}

// notInCampaigns are those of compare that a campaign cannot have, with the reason.
var notInCampaigns = []struct{ flag, why string }{
	{"shard", "a campaign makes its own shards, one for each cell"},
	{"jobs", "a pod runs one cell; --parallel says how many pods run at a time"},
	{"fail-fast", "shards know nothing of each other"},
	{"resume", "--attach-job comes back to a campaign"},
	{"only-failed", "it goes on with a comparison of this machine"},
	{"check", "it runs nothing"},
	{"attach", "its lock clients would run here"},
}

func (f *campaignFlags) bind(flags *pflag.FlagSet) {
	flags.StringVar(&f.on, "on", "", "run each cell in a pod of its own: "+onKubernetes+", by the usual kubeconfig (default: on this machine)")
	flags.StringVar(&f.job, "attach-job", "", "come back to the Job of this name, which --on="+onKubernetes+" made: wait for what it lacks, and merge")
	flags.StringVar(&f.namespace, "namespace", "", "with --on: the namespace of the Job (default: that of the kubeconfig)")
	flags.IntVar(&f.options.Parallel, "parallel", 10, "with --on: how many pods run at a time, at most")
	flags.StringVar(&f.options.CPU, "cpu", "2", "with --on: processors of a pod, its request and its limit")
	flags.StringVar(&f.options.Memory, "memory", "2Gi", "with --on: memory of a pod, its request and its limit")
	flags.Var(keepFlag{&f.options.KeepAll}, "keep", "with --on: the recordings that come back: failed, of runs that did not pass, or all")
	flags.DurationVar(&f.startTimeout, "start-timeout", 5*time.Minute, "with --on: how long the cluster may take to start the first pod")
}

// keepFlag is --keep: failed or all.
type keepFlag struct{ all *bool }

func (k keepFlag) String() string {
	if k.all != nil && *k.all {
		return "all"
	}
	return "failed"
}

func (k keepFlag) Type() string { return "failed|all" }

func (k keepFlag) Set(text string) error {
	if text != "all" && text != "failed" {
		return errors.New("say failed or all")
	}
	*k.all = text == "all"
	return nil
}

// asked reports whether a campaign is asked for, and is an error for flags that do not go together.
func (f *campaignFlags) asked(given *pflag.FlagSet) (bool, error) {
	switch {
	case f.on == "" && !given.Changed("attach-job"):
		for _, name := range ofCampaigns {
			if given.Changed(name) {
				return false, fmt.Errorf("--%s means something with --on=%s only", name, onKubernetes)
			}
		}
		if given.Changed("on") {
			return false, fmt.Errorf("--on= names nothing: say --on=%s, or leave it out", onKubernetes)
		}
		return false, nil
	case f.on != "" && f.on != onKubernetes:
		return false, fmt.Errorf("--on=%s: comparisons run here, or on %s", f.on, onKubernetes)
	}
	for _, not := range notInCampaigns {
		if given.Changed(not.flag) {
			return false, fmt.Errorf("--%s cannot stand beside --on=%s: %s", not.flag, onKubernetes, not.why)
		}
	}
	f.options.Image = given.Lookup(clusters.FlagImage).Value.String() // of servers elsewhere; pods have those in the same image
	if f.startTimeout <= 0 {
		return false, fmt.Errorf("--start-timeout=%v: some time is needed", f.startTimeout)
	}
	if given.Changed("namespace") {
		if err := campaign.CheckName("namespace", f.namespace); err != nil {
			return false, err
		}
	}
	if f.job == "" && !given.Changed("attach-job") {
		return true, f.options.Check()
	}
	var beside error
	given.Visit(func(flag *pflag.Flag) {
		switch name := flag.Name; {
		case name == "attach-job", name == "on", name == "namespace", name == "out", name == "start-timeout":
		default:
			for _, shown := range shownBeside {
				if shown == name {
					return
				}
			}
			beside = errors.Join(beside, fmt.Errorf("--attach-job comes back to what was decided; --%s cannot change that", name))
		}
	})
	return true, errors.Join(beside, campaign.CheckName("attach-job", f.job))
}

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
		fmt.Fprintf(k.out.errOut, "lockcheck: "+format+"\n", args...)
	}
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
	c, text, err := api.Find(ctx, f.campaign.in(api), f.campaign.job)
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
	k := &kubeCampaign{api: api, c: c, plan: plan, out: out, show: f.show, flag: f.campaign, dir: campaignDir(f.run.Out, *c)}
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
	if err := k.api.Delete(ctx, k.c); err != nil {
		return fmt.Errorf("%w: %w", clusters.ErrLeft, err)
	}
	return nil
}

// followAndMerge waits for all shards, and shows what they come to. A signal asks what is to become of the Job.
func (k *kubeCampaign) followAndMerge(parent context.Context) error {
	var failed shardFailed
	store, err := campaign.OpenStore(filepath.Join(k.dir, shardsDir), func(dir string, outcome campaign.Outcome) error {
		err := k.accept(dir, outcome)
		errors.As(err, &failed)
		return err
	})
	if err != nil {
		return fmt.Errorf("%w: cannot keep the shards: %w", clusters.ErrUnavailable, err)
	}
	var missing []campaign.Missing
	for again := true; again; {
		ctx, stop := harness.UntilEnded(parent)
		follow := campaign.Follow{API: k.api, Campaign: k.c, Store: store, Notice: func(line string) { k.say("%s", line) }, StartTimeout: k.flag.startTimeout, Every: pollEvery}
		missing, err = follow.Run(ctx)
		ended := ctx.Err() != nil
		stop() // from here on a second signal ends the program
		switch {
		case ended:
			if goOn, err := k.interrupted(store.Count()); !goOn {
				return err
			}
		case errors.Is(err, campaign.ErrRestricted) && k.c.Privileged && k.fresh:
			if err := k.unprivileged(parent, err); err != nil {
				return errors.Join(err, k.delete())
			}
		default:
			again = false
		}
	}
	switch {
	case failed.ExitCode != 0:
		return errors.Join(failed, k.delete())
	case errors.Is(err, campaign.ErrNotStarted):
		return errors.Join(fmt.Errorf("%w (the Job %s was deleted)", err, k.c.Name), k.delete())
	case err != nil:
		return fmt.Errorf("%w; the Job goes on: %s", err, k.comeBack())
	}
	k.say("the campaign has ended, after %s to the API server", history.Counted(k.api.Requests(), "request", "requests"))
	for _, m := range missing {
		k.say("shard %d is missing: %s", m.Shard, m.Why)
	}
	return k.merge(store, missing)
}

// pollEvery is how often the cluster is asked how a campaign stands.
const pollEvery = 2 * time.Second

// shardFailed is a shard that could run nothing: the others could not, either.
type shardFailed struct{ campaign.Outcome }

func (e shardFailed) Error() string {
	return fmt.Sprintf("shard %d could run nothing (exit %d):\n%s", e.Shard, e.ExitCode, strings.TrimSpace(e.Log))
}

// Unwrap gives the campaign the exit code of its shard.
func (e shardFailed) Unwrap() error { return harness.ExitStatus(e.ExitCode) }

// accept is an error unless a directory has the comparison of this shard of this plan.
func (k *kubeCampaign) accept(dir string, outcome campaign.Outcome) error {
	part, err := compare.ReadDir(dir)
	if outcome.ExitCode >= exitUsage && (err != nil || part.Interrupted) {
		return shardFailed{outcome}
	}
	switch {
	case err != nil:
		return harness.Usage(err)
	case part.Basis.Digest != k.plan.Basis.Digest, part.Shard != compare.Shard{Index: outcome.Shard, Count: k.c.Shards}:
		return harness.Usage(fmt.Errorf("the results of shard %d are not of this campaign", outcome.Shard))
	case part.Interrupted:
		return harness.Usage(fmt.Errorf("the results of shard %d are not whole", outcome.Shard))
	}
	return nil
}

// merge joins the shards, as lockcheck merge does, and removes the Job once nothing of it can be missed.
func (k *kubeCampaign) merge(store campaign.Store, missing []campaign.Missing) error {
	var parts []compare.Part
	for shard := 1; shard <= k.c.Shards; shard++ {
		if !store.Has(shard) {
			continue
		}
		dir := filepath.Join(store.ShardDir(shard), campaign.ResultsDir)
		part, err := compare.ReadDir(dir)
		if err != nil {
			return harness.Usage(err)
		}
		parts = append(parts, compare.Part{Dir: dir, Comparison: part})
	}
	if len(parts) == 0 {
		return errors.Join(fmt.Errorf("%w: no shard of the campaign gave results: %s", clusters.ErrUnavailable, missing[0].Why), k.delete())
	}
	whole, err := compare.Merge(parts, k.dir)
	if err != nil {
		return harness.Usage(err)
	}
	err = k.show.conclude(whole, k.dir, k.out)
	warnOfIndex(k.out.errOut, index.Update(filepath.Dir(k.dir), time.Now()))
	if !k.c.Privileged {
		k.say("%s", unprivilegedNote)
	}
	return errors.Join(err, k.delete())
}

// unprivilegedNote is said where pods may make no namespaces.
const unprivilegedNote = "the namespace forbids the privileges that network namespaces need: the pods shared the loopback network each, and faults of networks and disks were refused"

// unprivileged makes the Job again, of pods that need no privileges.
func (k *kubeCampaign) unprivileged(ctx context.Context, why error) error {
	k.say("%v", why)
	k.say("the Job is made again, of pods without privileges: faults of networks and disks are refused in them")
	if err := k.delete(); err != nil {
		return err
	}
	k.c.Privileged, k.c.Name = false, campaign.NewName(time.Now())
	if err := k.submit(ctx); err != nil {
		return err
	}
	k.say("it is the Job %s", k.c.Name)
	return k.record()
}

func (k *kubeCampaign) comeBack() string {
	command := []string{"lockcheck", "compare", "--attach-job=" + k.c.Name}
	if k.c.Namespace != k.api.Namespace {
		command = append(command, "--namespace="+k.c.Namespace)
	}
	if out := filepath.Dir(k.dir); out != rundir.DefaultOut {
		command = append(command, "--out="+out)
	}
	return "come back to it with " + words.ShellWords(command) + "; to delete it: kubectl delete job -n " + k.c.Namespace + " " + k.c.Name
}

// interrupted asks, after Ctrl-C, what is to become of the Job: it goes on without us, it is deleted, or we go on waiting. Where nobody can be
// asked it goes on.
func (k *kubeCampaign) interrupted(fetched int) (goOn bool, err error) {
	answer := "l"
	if terminal.IsTerminal(os.Stdin) && terminal.IsTerminal(os.Stderr) {
		fmt.Fprintf(k.out.errOut, "\nlockcheck: %d of %d shards are here. [l]eave the Job running, [d]elete it, or [w]ait for it? [l] ", fetched, k.c.Shards)
		line, _ := bufio.NewReader(os.Stdin).ReadString('\n')
		answer = strings.ToLower(strings.TrimSpace(line))
	}
	switch answer {
	case "w", "wait":
		return true, nil
	case "d", "delete":
		k.say("the Job is deleted; the %d shards that were fetched are in %s", fetched, k.dir)
		return false, errors.Join(harness.ErrInterrupted, k.delete())
	}
	return false, fmt.Errorf("%w: the Job goes on; %s", harness.ErrInterrupted, k.comeBack())
}
