package reports

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/clipperhouse/displaywidth"
	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"

	"lockcheck/checker"
)

// SummaryOptions say how the end of a run is shown.
type SummaryOptions struct {
	Color bool
	Quiet bool // the sentence only
	Width int  // in columns; 0: as wide as the terminal, or 100 where there is none
}

const (
	pipedWidth = 100
	minWhy     = 24  // columns
	maxWhy     = 240 // characters: the report has the rest
	// maxStoryLines bounds the story on a terminal.
	maxStoryLines = 24
)

// Summary shows a judged run: the verdict of every property, what the run was exposed to, the story of the first
// finding, where the report is, and last, where the eye rests, one sentence.
func Summary(w io.Writer, j Judgement, d *Dir, opts SummaryOptions) error {
	paint := painter(opts.Color)
	sentence := paint(j.Result.Verdict, faceOf(j.Result.Verdict).Symbol+" "+Sentence(j.Plan, j.Result))
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
	writeRejected(&out, j)
	if p := headline(j.Result); p != nil && len(p.Findings) > 0 {
		writeStory(&out, p.Findings[0])
		writeWitnessOf(&out, j.Result, d, p.Findings[0])
	}
	out.WriteByte('\n')
	if words := excerptWords(j.Plan); words != "" {
		fmt.Fprintf(&out, "excerpt  %s\n", plain(words))
	}
	fmt.Fprintf(&out, "report   %s\n", plain(d.ReportPath()))
	fmt.Fprintf(&out, "again    %s\n\n", Again(j.Plan))
	fmt.Fprintln(&out, sentence)
	_, err := io.WriteString(w, out.String())
	return err
}

func painter(color bool) func(v checker.Verdict, text string) string {
	if !color {
		return func(_ checker.Verdict, text string) string { return text }
	}
	return func(v checker.Verdict, text string) string { return "\x1b[" + faceOf(v).ansi + "m" + text + "\x1b[0m" }
}

func propertyTable(w io.Writer, r *checker.Result, opts SummaryOptions) error {
	name, count := len("PROPERTY"), len("COUNT")
	for _, p := range r.Properties {
		name = max(name, displaywidth.String(string(p.Name)))
		count = max(count, len(grouped(p.Count)))
	}
	const gaps, verdict = 8, len("✗ inconclusive") - 2
	why := max(opts.Width-name-verdict-count-gaps, minWhy)
	paint := painter(opts.Color)

	table := tablewriter.NewTable(w,
		tablewriter.WithRenderer(renderer.NewBlueprint(tw.Rendition{
			Borders:  tw.Border{Left: tw.Off, Right: tw.Off, Top: tw.Off, Bottom: tw.Off},
			Settings: tw.Settings{Separators: tw.Separators{BetweenColumns: tw.Off, BetweenRows: tw.Off}},
		})),
		tablewriter.WithConfig(tablewriter.Config{
			Header: tw.CellConfig{Alignment: tw.CellAlignment{Global: tw.AlignLeft}},
			Row: tw.CellConfig{
				Formatting:   tw.CellFormatting{AutoWrap: tw.WrapNormal},
				Alignment:    tw.CellAlignment{PerColumn: []tw.Align{tw.AlignLeft, tw.AlignLeft, tw.AlignRight, tw.AlignLeft}},
				ColMaxWidths: tw.CellWidth{PerColumn: tw.Mapper[int, int]{3: why}},
			},
		}))
	table.Header("property", "verdict", "count", "why")
	for _, p := range r.Properties {
		mark := paint(p.Verdict, faceOf(p.Verdict).Symbol+" "+string(p.Verdict))
		if err := table.Append(plain(string(p.Name)), mark, countCell(p), plain(clip(whyOf(p), maxWhy))); err != nil {
			return err
		}
	}
	return table.Render()
}

// countCell is empty where nothing was there to be counted.
func countCell(p checker.Property) string {
	if p.Count == 0 && p.Verdict != checker.Pass {
		return ""
	}
	return grouped(p.Count)
}

func whyOf(p checker.Property) string {
	switch {
	case p.Verdict == checker.Violation && len(p.Findings) > 0:
		return p.Findings[0].Summary
	case p.Reason != "":
		return p.Reason
	case p.ConfirmedBy != "":
		return "confirmed by " + p.ConfirmedBy
	}
	return ""
}

func clip(s string, runes int) string {
	count := 0
	for i := range s {
		if count++; count > runes {
			return strings.TrimSpace(s[:i]) + "…"
		}
	}
	return s
}

func writeExposure(w io.Writer, r *checker.Result) {
	for _, e := range r.Exposure {
		mark, need := "·", ""
		switch {
		case e.Min > 0 && e.Count == 0:
			mark, need = "✗", " (needed "+grouped(e.Min)+"): never happened"
		case e.Count < e.Min:
			mark, need = "✗", " (needed "+grouped(e.Min)+"): too few"
		case e.Min > 0:
			mark, need = "✓", " (needed "+grouped(e.Min)+")"
		}
		fmt.Fprintf(w, "exposed  %s %s %s%s\n", mark, grouped(e.Count), plain(exposureWords(e)), need)
	}
}

// exposureWords is what was counted, without the count where the text begins with it.
func exposureWords(e checker.Exposure) string {
	words := firstOf(e.Text, e.Name)
	return strings.TrimPrefix(strings.TrimPrefix(words, grouped(e.Count)+" "), strconv.FormatInt(e.Count, 10)+" ")
}

func writeFigures(w io.Writer, j Judgement) {
	s := j.Result.Stats
	fmt.Fprintf(w, "ran      %s in %s: %s ok, %s failed, %s unknown; %s ops/s, available %s\n",
		plural(s.Ops, "operation", "operations"), span(s.DurationNS), grouped(s.OK), grouped(s.Fail), grouped(s.Info),
		strconv.FormatFloat(s.OpsPerSecond, 'f', 1, 64), percent(s.Availability))
	if s.OutlivedLeases > 0 {
		fmt.Fprintf(w, "harm     %s accepted over %s (guard %s: %.2f each); %s rejected, %s held back by the guard\n",
			plural(s.StaleAccepted, "stale write", "stale writes"),
			plural(s.OutlivedLeases, "outlived lease", "outlived leases"), plain(j.Plan.Guard), s.StalePerOutlived,
			grouped(s.Rejected), grouped(s.Guarded))
	}
	if s.Stalls > 0 {
		fmt.Fprintf(w, "stalls   the harness or the machine stood still %s, %s in all; nothing is blamed on those\n",
			plural(s.Stalls, "time", "times"), span(s.StalledNS))
	}
	if s.ClockSteps > 0 {
		fmt.Fprintf(w, "clock    the machine's wall clock was set %s, by %s in all; leases that ran then count as shorter by that\n",
			plural(s.ClockSteps, "time", "times"), span(s.ClockSteppedNS))
	}
	if j.Plan.TTLMS != j.Plan.EffectiveMS {
		fmt.Fprintf(w, "lease    %s asked for, %s granted\n", spanMS(j.Plan.TTLMS), spanMS(j.Plan.EffectiveMS))
	}
}

func percent(share float64) string { return strconv.FormatFloat(100*share, 'f', 1, 64) + " %" }

func writeStory(w io.Writer, f checker.Finding) {
	fmt.Fprintf(w, "\n%s: %s\n", plain(f.ID), plain(f.Summary))
	for i, line := range f.Story {
		if i == maxStoryLines {
			fmt.Fprintf(w, "  ... %s more in the report\n", plural(int64(len(f.Story)-i), "line", "lines"))
			break
		}
		fmt.Fprintf(w, "  %2d. %10s  %s\n", i+1, clock(line.TimeNS), plain(line.Text))
	}
	if f.Cause.Text != "" {
		fmt.Fprintf(w, "  cause: %s\n", plain(f.Cause.Text))
	}
}

func writeWitnessOf(w io.Writer, r *checker.Result, d *Dir, f checker.Finding) {
	if command := checkWitness(r, d.path, f); command != "" {
		fmt.Fprintf(w, "  proof: %s\n", plain(command))
	}
	if f.NoWitness != "" {
		fmt.Fprintf(w, "  proof: not without the whole run: %s\n", plain(f.NoWitness))
	}
}
