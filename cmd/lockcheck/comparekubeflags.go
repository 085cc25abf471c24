package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"lockcheck/clusters"
	"lockcheck/cmd/internal/campaign"
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
	flags.DurationVar(&f.startTimeout, "start-timeout", 5*time.Minute, "with --on: how long the cluster may have no pod at work, before the first or for a reason that it gives later")
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
