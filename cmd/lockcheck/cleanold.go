package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"lockcheck/checker/history"
	"lockcheck/cmd/internal/harness"
	"lockcheck/reports/index"
	"lockcheck/reports/rundir"
	"lockcheck/reports/terminal"
	"lockcheck/reports/tidy"
	"lockcheck/reports/words"
)

// oldRuns are the flags of clean that are about run directories.
type oldRuns struct {
	olderThan, out string
	yes            bool
}

func (o *oldRuns) bind(flags *pflag.FlagSet) {
	flags.StringVar(&o.olderThan, "older-than", "", "remove directories of runs, comparisons and hunts that did not change for this time, such as 7d, 36h or 1d12h; asks first")
	flags.StringVar(&o.out, "out", rundir.DefaultOut, "directory of runs, comparisons and hunts")
	flags.BoolVar(&o.yes, "yes", false, "do not ask")
}

// remove lists what is old, asks, and removes it. Without a terminal to ask on it refuses.
func (o *oldRuns) remove(cmd *cobra.Command) error {
	age, err := parseAge(o.olderThan)
	if err != nil {
		return harness.Usage(fmt.Errorf("--older-than: %w", err))
	}
	now := time.Now()
	old, left, err := tidy.Old(o.out, now.Add(-age))
	if err != nil {
		return harness.Usage(fmt.Errorf("--out: %w", err))
	}
	list := cmd.OutOrStdout()
	for _, each := range old {
		fmt.Fprintf(list, "%s  %s old, %s\n", words.Plain(filepath.Join(o.out, each.Name)), ageWords(now.Sub(each.Changed)), humanize.Bytes(uint64(each.Bytes)))
	}
	o.say(list, left)
	if len(old) == 0 {
		fmt.Fprintf(list, "nothing below %s is older than %s and can be removed\n", words.Plain(o.out), o.olderThan)
		return nil
	}
	switch {
	case o.yes:
	case !terminal.IsTerminal(os.Stdin) || !terminal.IsTerminal(os.Stderr):
		return harness.Usage(errors.New("this would be removed, and there is no terminal to ask on; with --yes it is removed"))
	case !agreed(cmd.InOrStdin(), cmd.ErrOrStderr(), "Remove "+counted(old)+"?"):
		fmt.Fprintln(list, "nothing was removed")
		return nil
	}
	removed, left, err := tidy.Remove(o.out, old)
	warn(cmd.ErrOrStderr(), index.Update(o.out, time.Now()))
	o.say(list, left)
	fmt.Fprintf(list, "removed %s\n", counted(removed))
	return err
}

func (o *oldRuns) say(w io.Writer, left []tidy.Left) {
	for _, each := range left {
		fmt.Fprintf(w, "left: %s: %s\n", words.Plain(filepath.Join(o.out, each.Name)), words.Plain(each.Why))
	}
}

// counted is such as "3 runs and 1 comparison, 48 MB".
func counted(entries []tidy.Entry) string {
	var bytes int64
	numbers := map[tidy.Kind]int64{}
	for _, each := range entries {
		bytes += each.Bytes
		numbers[each.Kind]++
	}
	var parts []string
	for _, kind := range []tidy.Kind{tidy.Run, tidy.Comparison, tidy.Hunt} {
		if n := numbers[kind]; n > 0 || kind == tidy.Run && len(entries) == 0 {
			parts = append(parts, history.Counted(n, string(kind), string(kind)+"s"))
		}
	}
	return strings.Join(parts, " and ") + ", " + humanize.Bytes(uint64(bytes))
}

// agreed asks, and takes nothing but a clear yes for one.
func agreed(in io.Reader, ask io.Writer, question string) bool {
	fmt.Fprint(ask, question+" [y/N] ")
	line, _ := bufio.NewReader(in).ReadString('\n')
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return true
	}
	return false
}

// maxDays keeps an age within what a duration holds.
const maxDays = 36500

// parseAge reads an age: days, as in 7d, before what Go reads as a duration, or either of them alone.
func parseAge(text string) (time.Duration, error) {
	wrong := fmt.Errorf("%q is no age: say 7d, 36h or 1d12h", text)
	number, rest, hasDays := strings.Cut(text, "d")
	days := 0.0
	if !hasDays {
		rest = text
	} else {
		var err error
		if days, err = strconv.ParseFloat(number, 64); err != nil || math.IsNaN(days) || days < 0 || days > maxDays {
			return 0, wrong
		}
	}
	age := time.Duration(days * float64(24*time.Hour))
	if rest == "" && hasDays {
		return age, nil
	}
	hours, err := time.ParseDuration(rest)
	if err != nil || hours < 0 || hours > maxDays*24*time.Hour {
		return 0, wrong
	}
	return age + hours, nil
}

// ageWords is an age as a person would say it.
func ageWords(age time.Duration) string {
	switch {
	case age >= 48*time.Hour:
		return fmt.Sprintf("%.0f days", math.Floor(age.Hours()/24))
	case age >= 2*time.Hour:
		return fmt.Sprintf("%.0f hours", math.Floor(age.Hours()))
	}
	return age.Truncate(time.Second).String()
}
