package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"

	"lockcheck/clusters"
	"lockcheck/cmd/internal/harness"
	"lockcheck/reports/compare"
	"lockcheck/workloads/run"
)

// What a comparison is to take care of where others run the services: the rate is of the command as a whole, and what each run is
// about to do is said although the run itself is silent.

// rateOf is how many acquires a second a command may ask a service for; 0 where lockcheck starts it.
func rateOf(flags []compare.Flag) (rate int) {
	attached := false
	for _, flag := range flags {
		switch flag.Name {
		case clusters.FlagAttach:
			attached = flag.Value != ""
		case clusters.FlagMaxRate:
			rate, _ = strconv.Atoi(flag.Value) // checked with the flags
		}
	}
	if !attached {
		return 0
	}
	return cmp.Or(rate, harness.DefaultMaxRate)
}

// ratePerRun is the share of one of so many runs side by side; 0 where there is no limit.
func ratePerRun(flags []compare.Flag, sideBySide int) int { return rateOf(flags) / max(sideBySide, 1) }

// sideBySide is how many runs of a comparison may be at work at the same time: those of this command, and as many of each other shard.
func sideBySide(jobs int, shard compare.Shard) int { return jobs * max(shard.Count, 1) }

// sideBySideOf is how many of so many jobs these tasks can use.
func sideBySideOf(tasks []compare.Task, jobs int) int {
	runs := 0
	for _, task := range tasks {
		runs += task.AtOnce()
	}
	return min(jobs, max(runs, 1))
}

// enoughRate refuses more runs side by side than there are acquires a second to share.
func enoughRate(tasks []compare.Task, jobs int, shard compare.Shard) error {
	jobs = sideBySideOf(tasks, jobs)
	for _, task := range tasks {
		rate := rateOf(task.Flags)
		if all := sideBySide(jobs, shard); rate == 0 || rate >= all {
			continue
		}
		if shard.Count > 1 {
			return fmt.Errorf("--%s=%d is of all runs side by side, and %d shards with --jobs=%d are more: use fewer, or a higher rate", clusters.FlagMaxRate, rate, shard.Count, jobs)
		}
		return fmt.Errorf("--%s=%d is of all runs side by side, and --jobs=%d are more: use --jobs=%d, or a higher rate", clusters.FlagMaxRate, rate, jobs, rate)
	}
	return nil
}

// notAttached refuses what a campaign cannot do: its pods are elsewhere, have no file that lets a client in, and know nothing of each
// other's rate.
func notAttached(tasks []compare.Task) error {
	for _, task := range tasks {
		if rateOf(task.Flags) > 0 {
			return fmt.Errorf("%s: --%s cannot stand beside --on=%s, in a file neither: pods share no rate, and have none of this machine's files", task.Cell, clusters.FlagAttach, onKubernetes)
		}
	}
	return nil
}

// noticed takes what a run prints on standard error: notices are shown at once, all else is kept.
type noticed struct {
	to     io.Writer
	notice func(line string)
	begun  []byte // a line without its end
}

func (n *noticed) Write(text []byte) (int, error) {
	n.begun = append(n.begun, text...)
	for {
		line, rest, whole := bytes.Cut(n.begun, []byte{'\n'})
		if !whole {
			return len(text), nil
		}
		if strings.HasPrefix(string(line), run.NoticeOfAttach) {
			n.notice(string(line))
		} else {
			fmt.Fprintf(n.to, "%s\n", line)
		}
		n.begun = rest
	}
}

// end keeps what came after the last whole line.
func (n *noticed) end() { _, _ = n.to.Write(n.begun) }
