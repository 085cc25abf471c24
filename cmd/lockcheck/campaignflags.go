package main

import (
	"errors"
	"fmt"
	"slices"
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

	not    []notInCampaign
	beside []string // flags that may stand beside --attach-job
}

// notInCampaign is a flag of a command that its campaigns cannot have, with the reason.
type notInCampaign struct{ flag, why string }

// ofCampaigns are the flags that mean nothing without --on or --attach-job.
var ofCampaigns = []string{"namespace", "parallel", "cpu", "memory", "keep", "start-timeout"}

// besideAttachJob are those of a campaign, and of every command, that --attach-job leaves a choice of.
var besideAttachJob = []string{"attach-job", "on", "namespace", "out", "start-timeout"}

// bind adds the flags; unit is what a pod runs.
func (f *campaignFlags) bind(flags *pflag.FlagSet, unit string) {
	flags.StringVar(&f.on, "on", "", "run each "+unit+" in its own pod: "+onKubernetes+", with the usual kubeconfig (default: on this machine)")
	flags.StringVar(&f.job, "attach-job", "", "return to the Job of this name, which --on="+onKubernetes+" created: wait for the missing runs, and merge")
	flags.StringVar(&f.namespace, "namespace", "", "with --on: the namespace of the Job (default: that of the kubeconfig)")
	flags.IntVar(&f.options.Parallel, "parallel", 10, "with --on: maximum pods at a time")
	flags.StringVar(&f.options.CPU, "cpu", "2", "with --on: processors of a pod, its request and its limit")
	flags.StringVar(&f.options.Memory, "memory", "2Gi", "with --on: memory of a pod, its request and its limit")
	flags.Var(keepFlag{&f.options.KeepAll}, "keep", "with --on: the recordings to fetch: failed (runs that did not pass) or all")
	flags.DurationVar(&f.startTimeout, "start-timeout", 5*time.Minute, "with --on: how long the cluster may have no running pod")
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
		return false, fmt.Errorf("--on=%s: it runs here, or on %s", f.on, onKubernetes)
	}
	for _, not := range f.not {
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
		if !slices.Contains(besideAttachJob, flag.Name) && !slices.Contains(f.beside, flag.Name) {
			beside = errors.Join(beside, fmt.Errorf("--attach-job comes back to what was decided; --%s cannot change that", flag.Name))
		}
	})
	return true, errors.Join(beside, campaign.CheckName("attach-job", f.job))
}

// notLocal is an error for a provider that no pod has.
func notLocal(given *pflag.FlagSet) error {
	if provider := given.Lookup("provider").Value.String(); given.Changed("provider") && provider != "local" {
		return fmt.Errorf("--provider=%s: a pod has no engine; what runs in it is the provider local", provider)
	}
	return nil
}
