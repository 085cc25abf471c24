package terminal

import (
	"fmt"
	"io"
	"os"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
	"lockcheck/reports/rundir"
	"lockcheck/reports/words"
)

// maxFailureStories bounds how many stories Failure writes: a log is read from its end, and the report has them all.
const maxFailureStories = 3

// Failure writes a run that did not pass to the log of a test: the verdict, what the run was exposed to, the first finding
// of each violated property, the one that matters most first, and where the report is. An incident's story is written once.
func Failure(w io.Writer, j rundir.Judgement, d *rundir.Dir) {
	fmt.Fprintf(w, "%s %s\n\n", words.FaceOf(j.Result.Verdict).Symbol, words.Sentence(j.Plan, j.Result))
	writeExposure(w, j.Result)
	writeDeaths(w, j, d)
	writeEndedServers(w, j)
	writeFirstStories(w, j.Result, d)
	fmt.Fprintln(w)
	if _, err := os.Stat(d.ReportPath()); err == nil {
		fmt.Fprintf(w, "report    %s\n", words.Plain(d.ReportPath()))
	}
	fmt.Fprintf(w, "reproduce %s\n", words.ReproduceCommand(j.Plan))
	writeNextSteps(w, j)
}

func writeFirstStories(w io.Writer, r *model.Result, d *rundir.Dir) {
	storyOf, stories, more := map[string]string{}, 0, int64(0) // the finding that shows each incident
	for _, f := range firstFindings(r) {
		switch id := storyOf[f.Incident]; {
		case id != "" && f.Incident != "":
			fmt.Fprintf(w, "\n%s: %s\n  of the same incident as %s\n", words.Plain(f.ID), words.Plain(f.Summary), words.Plain(id))
		case stories == maxFailureStories:
			more++
		default:
			writeStory(w, f)
			writeWitnessOf(w, r, d, f)
			storyOf[f.Incident] = f.ID
			stories++
		}
	}
	if more > 0 {
		fmt.Fprintf(w, "\n%s more in the report\n", history.Counted(more, "violated property", "violated properties"))
	}
}

// firstFindings are the first ones of the violated properties: that of the headline, then what the lock itself did wrong,
// which no fault excuses, then the others.
func firstFindings(r *model.Result) (findings []model.Finding) {
	first := words.Headline(r)
	if first != nil && len(first.Findings) > 0 {
		findings = append(findings, first.Findings[0])
	}
	var others []model.Finding
	for _, p := range r.Properties {
		switch {
		case p.Verdict != model.Violation || len(p.Findings) == 0 || p.Name == first.Name:
		case p.Layer == model.LayerService:
			findings = append(findings, p.Findings[0])
		default:
			others = append(others, p.Findings[0])
		}
	}
	return append(findings, others...)
}
