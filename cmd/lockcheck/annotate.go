package main

import (
	"errors"
	"os"

	"github.com/spf13/cobra"

	"lockcheck/reports/compare"
	"lockcheck/reports/compare/config"
)

// onGitHub reports whether this is a job of GitHub Actions.
func onGitHub() bool { return os.Getenv("GITHUB_ACTIONS") == "true" }

// annotateError annotates why compare or merge came to no comparison, for those who see no log. It is said on standard error as
// well: standard output that is gone changes nothing.
func annotateError(cmd *cobra.Command, err error) {
	wanted, other := cmd.Flags().GetBool("annotations")
	if json, _ := cmd.Flags().GetBool("json"); other != nil || json || !wanted && !onGitHub() {
		return
	}
	_ = compare.AnnotateMistakes(cmd.OutOrStdout(), mistakesOf(err), os.Getenv("GITHUB_WORKSPACE"))
}

// mistakesOf are those of a file, at their places, or the error as a whole.
func mistakesOf(err error) (all []compare.Mistake) {
	var several config.Mistakes
	var one *config.Error
	switch {
	case errors.As(err, &several):
	case errors.As(err, &one):
		several = config.Mistakes{one}
	default:
		return []compare.Mistake{{Text: err.Error()}}
	}
	for _, e := range several {
		if e.Line == 0 {
			all = append(all, compare.Mistake{Text: e.Error()})
			continue
		}
		all = append(all, compare.Mistake{File: e.File, Line: e.Line, Column: e.Column, Text: e.Text})
	}
	return all
}
