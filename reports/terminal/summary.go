// Package terminal is what is printed: how a run gets on, its end, and a failure in the log of a test. All text of unknown origin
// is made harmless before, and colour only repeats what words and shapes say.
package terminal

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
	"lockcheck/reports/rundir"
	"lockcheck/reports/svg"
	"lockcheck/reports/words"
)

// SummaryOptions say how the end of a run is shown.
type SummaryOptions struct {
	Color bool
	Quiet bool // the sentence only
	// NoReport says that there is none to name: it was not written.
	NoReport bool
	Width    int // in columns; 0: as wide as the terminal, or 100 where there is none
}

const (
	pipedWidth = 100
	// maxStoryLines bounds the story on a terminal, maxRejectedLines the list of rejected writes.
	maxStoryLines    = 24
	maxRejectedLines = 5
)

// Summary shows a judged run: the verdict of every property, what the run was exposed to, the story of the first
// finding, where the report is, and last, where the eye rests, one sentence.
func Summary(w io.Writer, j rundir.Judgement, d *rundir.Dir, opts SummaryOptions) error {
	paint := painter(opts.Color)
	sentence := paint(j.Result.Verdict, words.FaceOf(j.Result.Verdict).Symbol+" "+words.Sentence(j.Plan, j.Result))
	if opts.Quiet {
		_, err := fmt.Fprintln(w, sentence)
		return err
	}
	if opts.Width == 0 {
		opts.Width = pipedWidth
		if IsTerminal(w) {
			opts.Width = terminalWidth(w)
		}
	}
	var out strings.Builder
	if err := propertyTable(&out, j.Result, opts); err != nil {
		return fmt.Errorf("cannot draw the table of properties: %w", err)
	}
	out.WriteByte('\n')
	writeExposure(&out, j.Result)
	writeFigures(&out, j)
	writeDeaths(&out, j, d)
	writeEndedServers(&out, j)
	writeRejected(&out, j)
	if p := words.Headline(j.Result); p != nil && len(p.Findings) > 0 {
		writeStory(&out, p.Findings[0])
		writeWitnessOf(&out, j.Result, d, p.Findings[0])
	}
	out.WriteByte('\n')
	if phrase := words.Excerpt(j.Plan); phrase != "" {
		fmt.Fprintf(&out, "excerpt   %s\n", words.Plain(phrase))
	}
	if !opts.NoReport {
		fmt.Fprintf(&out, "report    %s\n", words.Plain(d.ReportPath()))
	}
	fmt.Fprintf(&out, "reproduce %s\n", words.ReproduceCommand(j.Plan))
	writeNextSteps(&out, j)
	out.WriteByte('\n')
	fmt.Fprintln(&out, sentence)
	_, err := io.WriteString(w, out.String())
	return err
}

// painter colours text as a verdict, where colour is wanted.
func painter(color bool) func(v model.Verdict, text string) string {
	if !color {
		return func(_ model.Verdict, text string) string { return text }
	}
	return func(v model.Verdict, text string) string { return words.FaceOf(v).Paint(text) }
}

func whyOf(p model.Property) string {
	switch {
	case p.Verdict == model.Violation && len(p.Findings) > 0:
		return p.Findings[0].Summary
	case p.Reason != "":
		return p.Reason
	case p.ConfirmedBy != "":
		return "confirmed by " + p.ConfirmedBy
	}
	return ""
}

// writeNextSteps says what would have prevented the violation, or what to change where the run could not tell.
func writeNextSteps(w io.Writer, j rundir.Judgement) {
	evidence := func(p *model.Property, f model.Finding) words.Evidence {
		return svg.NewIndex(j).Evidence(j.Plan, p, f)
	}
	label := "next"
	for _, step := range words.NextSteps(j.Plan, j.Result, evidence) {
		fmt.Fprintf(w, "%-9s %s\n", label, words.Plain(step))
		label = ""
	}
}

func writeExposure(w io.Writer, r *model.Result) {
	for _, e := range r.Exposure {
		switch phrase := words.Plain(words.Exposure(e)); {
		case e.Count < e.Min: // the checker says in a whole sentence what never happened, or too seldom
			fmt.Fprintf(w, "exposed   ✗ %s (at least %s required)\n", phrase, history.Grouped(e.Min))
		case e.Min > 0:
			fmt.Fprintf(w, "exposed   ✓ %s %s (at least %s required)\n", history.Grouped(e.Count), phrase, history.Grouped(e.Min))
		default:
			fmt.Fprintf(w, "exposed   · %s %s\n", history.Grouped(e.Count), phrase)
		}
	}
}

func writeFigures(w io.Writer, j rundir.Judgement) {
	s := j.Result.Stats
	fmt.Fprintf(w, "ran       %s in %s: %s ok, %s failed, %s unknown; %s ops/s, available %s\n",
		history.Counted(s.Ops, "operation", "operations"), history.Duration(s.DurationNS), history.Grouped(s.OK), history.Grouped(s.Fail), history.Grouped(s.Info),
		strconv.FormatFloat(s.OpsPerSecond, 'f', 1, 64), words.Percent(s.Availability))
	if phrase := words.EndedEarly(j.Plan); phrase != "" {
		fmt.Fprintf(w, "ended     %s\n", words.Plain(phrase))
	}
	if phrase := words.Queueing(s, words.Queued(j.Model)); phrase != "" {
		fmt.Fprintf(w, "queue     %s\n", phrase)
	}
	if s.Jobs != nil {
		fmt.Fprintf(w, "jobs      %s\n", words.Jobs(j.Plan, s.Jobs))
	}
	if s.OutlivedLeases > 0 {
		rate := words.HarmRate(j.Plan, s)
		if rate != "" {
			rate = ": " + rate + " each"
		}
		fmt.Fprintf(w, "harm      %s (guard %s%s); %s rejected, %s held back by the guard%s\n",
			words.HarmOver(j.Plan, j.Result), words.Plain(j.Plan.Guard), rate,
			history.Grouped(s.Rejected), history.Grouped(s.Guarded), words.Unanswered(s))
	}
	fmt.Fprintf(w, "free      while a client waited: %s\n", words.Plain(words.FreeWanted(s)))
	for _, call := range words.ClosestCalls(j) {
		fmt.Fprintf(w, "closest   %s\n", words.Plain(call))
	}
	if s.Stalls > 0 {
		fmt.Fprintf(w, "stalls    the harness or the machine froze %s, for %s in all; not treated as a cause\n",
			history.Counted(s.Stalls, "time", "times"), history.Duration(s.StalledNS))
	}
	if s.ThrottledNS > 0 {
		fmt.Fprintf(w, "throttled the quota of a control group kept the run from the processors for %s: give it more, or let less run in it\n", history.Duration(s.ThrottledNS))
	}
	if s.ClockSteps > 0 {
		fmt.Fprintf(w, "clock     the machine's wall clock was set %s, by %s in all; leases that ran then count as shorter by that\n",
			history.Counted(s.ClockSteps, "time", "times"), history.Duration(s.ClockSteppedNS))
	}
	if j.Plan.TTLMS != j.Plan.EffectiveMS {
		fmt.Fprintf(w, "lease     %s asked for, %s granted\n", words.Milliseconds(j.Plan.TTLMS), words.Milliseconds(j.Plan.EffectiveMS))
	}
}

func writeStory(w io.Writer, f model.Finding) {
	fmt.Fprintf(w, "\n%s: %s\n", words.Plain(f.ID), words.Plain(f.Summary))
	for i, line := range f.Story {
		if i == maxStoryLines {
			fmt.Fprintf(w, "  ... %s more in the report\n", history.Counted(int64(len(f.Story)-i), "line", "lines"))
			break
		}
		fmt.Fprintf(w, "  %2d. %10s  %s\n", i+1, history.Moment(line.TimeNS), words.Plain(line.Text))
	}
	if f.Cause.Text != "" {
		fmt.Fprintf(w, "  cause: %s\n", words.Plain(f.Cause.Text))
	}
}

func writeWitnessOf(w io.Writer, r *model.Result, d *rundir.Dir, f model.Finding) {
	if command := words.CheckWitness(r, d.Path(), f); command != "" {
		fmt.Fprintf(w, "  proof: %s\n", words.Plain(command))
	}
	if f.NoWitness != "" {
		fmt.Fprintf(w, "  proof: not without the whole run: %s\n", words.Plain(f.NoWitness))
	}
}

func writeDeaths(w io.Writer, j rundir.Judgement, d *rundir.Dir) {
	deaths := words.DeathsOf(j, d.RunPath())
	if deaths.Words == "" {
		return
	}
	fmt.Fprintf(w, "deaths    %s\n", deaths.Words)
	for _, line := range append(deaths.Logs, deaths.More) {
		if line != "" {
			fmt.Fprintf(w, "          %s\n", words.Plain(line))
		}
	}
}

func writeEndedServers(w io.Writer, j rundir.Judgement) {
	for _, line := range words.EndedServers(j) {
		fmt.Fprintf(w, "servers   %s\n", words.Plain(line))
	}
}

func writeRejected(w io.Writer, j rundir.Judgement) {
	first, all := words.RejectedWrites(j.Plan, j.Model)
	for i, r := range first {
		if i == maxRejectedLines {
			fmt.Fprintf(w, "          ... and %s more, in the report\n", history.Grouped(all-int64(i)))
			return
		}
		fmt.Fprintf(w, "rejected  %s  %s wrote %s%s\n", history.Moment(r.TimeNS), words.Plain(r.Client), words.Plain(words.Clip(r.Key, 40)), words.Plain(r.Words()))
	}
}
