package main

import (
	"github.com/spf13/pflag"

	"lockcheck/cmd/internal/harness"
)

// runFlags is what a user asks of a run, and how it is shown.
type runFlags struct {
	harness.Options
	json, quiet bool
}

// bind declares the flags of run, which plan has too.
func (f *runFlags) bind(flags *pflag.FlagSet) {
	f.bindSome(flags, func(harness.Flag) bool { return true })
}

// bindSome declares some of them, and how a run is shown.
func (f *runFlags) bindSome(flags *pflag.FlagSet, takes func(harness.Flag) bool) {
	harness.Declare(flags, &f.Options, takes)
	flags.BoolVar(&f.json, "json", false, "print results.json on standard output, and nothing else there")
	flags.BoolVar(&f.quiet, "quiet", false, "print the verdict only")
}
