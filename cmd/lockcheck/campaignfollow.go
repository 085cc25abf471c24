package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"lockcheck/checker/history"
	"lockcheck/clusters"
	"lockcheck/cmd/internal/campaign"
	"lockcheck/cmd/internal/harness"
	"lockcheck/reports/rundir"
	"lockcheck/reports/terminal"
	"lockcheck/reports/words"
)

// followAndConclude waits for all shards, and shows what they come to. A signal asks what is to become of the Job.
func (k *kubeCampaign) followAndConclude(parent context.Context) error {
	var failed shardFailed
	store, err := campaign.OpenStore(filepath.Join(k.dir, shardsDir), func(dir string, outcome campaign.Outcome) error {
		err := k.of.accept(dir, outcome)
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
			if goOn, err := k.interrupted(store); !goOn {
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
	return k.conclude(store, missing)
}

// pollEvery is how often the cluster is asked how a campaign stands.
const pollEvery = 2 * time.Second

// shardFailed is a shard that could run nothing: the others could not, either.
type shardFailed struct{ campaign.Outcome }

func (e shardFailed) Error() string {
	lines := strings.Split(strings.TrimSpace(e.Log), "\n")
	for i := range lines {
		lines[i] = words.Plain(lines[i]) // it comes from a pod: a terminal must not obey it
	}
	return fmt.Sprintf("shard %d could run nothing (exit %d):\n%s", e.Shard, e.ExitCode, strings.Join(lines, "\n"))
}

// Unwrap gives the campaign the exit code of its shard.
func (e shardFailed) Unwrap() error {
	if !slices.Contains([]int{exitUsage, exitUnavailable, exitInterrupted}, e.ExitCode) { // a pod says any number
		return harness.ExitStatus(exitDefect)
	}
	return harness.ExitStatus(e.ExitCode)
}

// conclude shows what the shards come to, and removes the Job once nothing of it can be missed.
func (k *kubeCampaign) conclude(store campaign.Store, missing []campaign.Missing) error {
	if store.Count() == 0 {
		return errors.Join(fmt.Errorf("%w: no shard of the campaign gave results: %s", clusters.ErrUnavailable, missing[0].Why), k.delete())
	}
	err := k.joined(store, missing)
	if errors.Is(err, errNotConcluded) {
		return fmt.Errorf("%w; the Job is left: %s", err, k.comeBack())
	}
	return errors.Join(err, k.delete())
}

// joined shows what the shards come to that were fetched.
func (k *kubeCampaign) joined(store campaign.Store, missing []campaign.Missing) error {
	results := map[int]string{}
	for shard := 1; shard <= k.c.Shards; shard++ {
		if store.Has(shard) {
			results[shard] = filepath.Join(store.ShardDir(shard), campaign.ResultsDir)
		}
	}
	heldUp, err := k.of.conclude(k.dir, results, missing, k.out)
	if errors.Is(err, errNotConcluded) {
		return err
	}
	if advice := k.of.missed(k.dir, missing); advice != "" {
		k.say("%s", advice)
	}
	if !k.c.Privileged {
		k.say("%s", unprivilegedNote)
	}
	k.sayHeldUp(heldUp)
	return err
}

// errNotConcluded is for results that are here and cannot be read, or not be put together: the Job is left, by which they are known.
var errNotConcluded = errors.New("the results of the shards cannot be put together")

// refusedShard is why one shard's results are not taken.
func refusedShard(outcome campaign.Outcome, why string, args ...any) error {
	return harness.Usage(fmt.Errorf("the results of shard %d %s", outcome.Shard, fmt.Sprintf(why, args...)))
}

// leadsOut is the first of these names, of files that results name, that is outside of their directory: reports are copied and linked.
func leadsOut(names ...string) string {
	for _, name := range names {
		if name != "" && !filepath.IsLocal(filepath.FromSlash(name)) {
			return name
		}
	}
	return ""
}

// maxHeldUpLines bounds how many runs are named whose harness was held up; the JSON of the whole has all.
const maxHeldUpLines = 20

func (k *kubeCampaign) sayHeldUp(lines []string) {
	if len(lines) == 0 {
		return
	}
	k.say("the harness of %s was throttled or froze; a violation counts, a pass does not:", history.Counted(int64(len(lines)), "run", "runs"))
	for i, line := range lines {
		if i == maxHeldUpLines {
			k.say("  … and %d more", len(lines)-i)
			return
		}
		k.say("  %s", line)
	}
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
	command := []string{"lockcheck", k.of.command(), "--attach-job=" + k.c.Name}
	if k.c.Namespace != k.api.Namespace {
		command = append(command, "--namespace="+k.c.Namespace)
	}
	if out := filepath.Dir(k.dir); out != rundir.DefaultOut {
		command = append(command, "--out="+out)
	}
	return "come back to it with " + words.ShellWords(command) + "; to delete it: kubectl delete job -n " + k.c.Namespace + " " + k.c.Name
}

// interrupted asks, after Ctrl-C, what is to become of the Job: it goes on without us, it is deleted, or we go on waiting. Where no user can be
// asked it goes on.
func (k *kubeCampaign) interrupted(store campaign.Store) (goOn bool, err error) {
	fetched := store.Count()
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
		if err := k.delete(); err != nil {
			return false, errors.Join(harness.ErrInterrupted, err)
		}
		k.say("the Job is deleted; what was fetched, %d of %s, is in %s", fetched, history.Counted(int64(k.c.Shards), "shard", "shards"), k.dir)
		return false, errors.Join(harness.ErrInterrupted, k.concludeEarly(store))
	}
	return false, fmt.Errorf("%w: the Job goes on; %s", harness.ErrInterrupted, k.comeBack())
}

// concludeEarly shows what was fetched until the Job was deleted. The end is Ctrl-C's, whatever was found.
func (k *kubeCampaign) concludeEarly(store campaign.Store) error {
	if store.Count() == 0 {
		return nil
	}
	var missing []campaign.Missing
	for shard := 1; shard <= k.c.Shards; shard++ {
		if !store.Has(shard) {
			missing = append(missing, campaign.Missing{Shard: shard, Why: "the Job was deleted before"})
		}
	}
	err := k.joined(store, missing)
	if status := harness.ExitStatus(0); errors.As(err, &status) {
		return nil
	}
	return err
}
