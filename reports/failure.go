package reports

import (
	"fmt"
	"io"
	"os"

	"lockcheck/checker"
)

// maxFailureStories bounds how many stories Failure tells: a log is read from its end, and the report has them all.
const maxFailureStories = 3

// Failure is a run that did not pass, told in the log of a test: the verdict, what the run was exposed to, the story of
// the first finding of each violated property, the one that matters most first, and where the report is.
func Failure(w io.Writer, j Judgement, d *Dir) {
	fmt.Fprintf(w, "%s %s\n\n", faceOf(j.Result.Verdict).Symbol, Sentence(j.Plan, j.Result))
	writeExposure(w, j.Result)
	findings := firstFindings(j.Result)
	for i, f := range findings {
		if i == maxFailureStories {
			fmt.Fprintf(w, "\n%s more in the report\n", plural(int64(len(findings)-i), "violated property", "violated properties"))
			break
		}
		writeStory(w, f)
		writeWitnessOf(w, j.Result, d, f)
	}
	fmt.Fprintln(w)
	if _, err := os.Stat(d.ReportPath()); err == nil {
		fmt.Fprintf(w, "report   %s\n", plain(d.ReportPath()))
	}
	fmt.Fprintf(w, "again    %s\n", Again(j.Plan))
}

// firstFindings are the first ones of the violated properties: that of the headline, then what the lock itself did wrong,
// which no fault excuses, then the others.
func firstFindings(r *checker.Result) (findings []checker.Finding) {
	first := headline(r)
	if first != nil && len(first.Findings) > 0 {
		findings = append(findings, first.Findings[0])
	}
	var others []checker.Finding
	for _, p := range r.Properties {
		switch {
		case p.Verdict != checker.Violation || len(p.Findings) == 0 || p.Name == first.Name:
		case p.Layer == checker.LayerService:
			findings = append(findings, p.Findings[0])
		default:
			others = append(others, p.Findings[0])
		}
	}
	return append(findings, others...)
}
