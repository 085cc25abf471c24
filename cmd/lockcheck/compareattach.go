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
	"lockcheck/workloads"
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
func ratePerRun(flags []compare.Flag, jobs int) int { return rateOf(flags) / max(jobs, 1) }

// enoughRate refuses more runs side by side than there are acquires a second to share.
func enoughRate(tasks []compare.Task, jobs int) error {
	jobs = min(jobs, len(tasks))
	for _, task := range tasks {
		if rate := rateOf(task.Flags); rate > 0 && rate < jobs {
			return fmt.Errorf("--%s=%d is of all runs side by side, and --jobs=%d are more: use --jobs=%d, or a higher rate", clusters.FlagMaxRate, rate, jobs, rate)
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
		if strings.HasPrefix(string(line), workloads.NoticeOfAttach) {
			n.notice(string(line))
		} else {
			fmt.Fprintf(n.to, "%s\n", line)
		}
		n.begun = rest
	}
}

// end keeps what came after the last whole line.
func (n *noticed) end() { _, _ = n.to.Write(n.begun) }
