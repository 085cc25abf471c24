package svg

import (
	"strings"
	"testing"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
	"lockcheck/reports/rundir"
	"lockcheck/reports/testkit"
)

// drawnAsCause are the targets of the faults that a drawing marks as named by the cause, and those of the others.
func drawnAsCause(j rundir.Judgement) (cause, aside string) {
	for _, s := range Finding(j.Result.Properties[0].Findings[0], NewIndex(j)).Sheet.Shapes {
		target, _, _ := strings.Cut(s.Title, " ")
		switch s.Class {
		case "fault suspect":
			cause += target + " "
		case "fault":
			aside += target + " "
		}
	}
	return strings.TrimSpace(cause), strings.TrimSpace(aside)
}

func TestEveryFaultThatTheCauseNamesIsDrawn(t *testing.T) {
	j := testkit.SuspectedRun()
	if cause, aside := drawnAsCause(j); cause != "n1 n2 c9" || aside != "n3" {
		t.Errorf("drawn as causes are %q, beside them %q; want n1 n2 c9, and n3", cause, aside)
	}
}

func TestASuspectBeforeTheFindingIsInView(t *testing.T) {
	j := testkit.SuspectedRun()
	j.Model.Faults[1].BeginNS, j.Model.Faults[1].EffectiveNS, j.Model.Faults[1].HealNS = 17e9, 17e9, 18e9
	sc := compose(j.Result.Properties[0].Findings[0], NewIndex(j))
	if !sc.axis.shows(17e9, 18e9) {
		t.Errorf("the drawing shows %s to %s", history.Moment(sc.axis.from), history.Moment(sc.axis.to))
	}
	if cause, _ := drawnAsCause(j); cause != "n1 n2 c9" {
		t.Errorf("drawn as causes are %q", cause)
	}
}

// A crowd of faults leaves none out that the cause names.
func TestSuspectsAreDrawnHoweverManyFaultsThereAre(t *testing.T) {
	j := testkit.SuspectedRun()
	crowd := make([]*model.Fault, 0, 2*maxFaults)
	for i := range int64(2 * maxFaults) {
		crowd = append(crowd, &model.Fault{Op: 100 + i, Name: "loss", Target: "n7", BeginNS: 20e9, EffectiveNS: 20e9, HealNS: 21e9})
	}
	j.Model.Faults = append(crowd, j.Model.Faults...)
	if cause, _ := drawnAsCause(j); cause != "n1 n2 c9" {
		t.Errorf("drawn as causes are %q", cause)
	}
}
