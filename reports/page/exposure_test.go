package page

import (
	"strings"
	"testing"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
	"lockcheck/reports/rundir"
)

func TestExposureIsToldInSentences(t *testing.T) {
	j := rundir.Judgement{Plan: history.Plan{Guard: "before-work"}, Model: &model.Model{Faults: []*model.Fault{{Name: "pause", BeginNS: 1, Error: "gone"}, {Name: "pause", EffectiveNS: 2}}},
		Result: &model.Result{
			Stats: model.Stats{StaleAccepted: 41, StaleOutlived: 41, OutlivedLeases: 41, StalePerOutlived: 1, Rejected: 2, Guarded: 7},
			Exposure: []model.Exposure{
				{Name: history.ExposureContended, Count: 1204, Min: 1, Text: "1204 grants of a lock that another client was waiting for"},
				{Name: history.ExposureWriters, Count: 5, Min: 2, Text: "5 clients whose write under a lock the resource handled and answered"},
				{Name: "pauses", Count: 212, Text: "212 pauses confirmed"}, {Name: "pauses-of-holders", Count: 173}, {Name: "pauses-past-the-lease", Count: 41, Min: 1},
				{Name: "pauses-of-servers", Text: "0 pauses of a server"},
				{Name: "losses", Count: 1, Text: "1 stretches of packet loss confirmed"},
				{Name: "partitions-past-the-lease", Min: 2, Text: "no partition of a holder outlived its lease"},
			}}}
	x := newExposed(j)
	want := "1,204 grants of a lock that another client was waiting for. | 5 clients whose write under a lock the resource handled and answered. | 212 pauses, 173 while holding, 41 outlived the lease, 1 pause not confirmed, which count for nothing. | 1 stretch of packet loss."
	if got := strings.Join(x.Sentences, " | "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := strings.Join(x.Harm, " "); got != "41 stale writes accepted over 41 outlived leases: 1.00 for each (guard before-work: clients look at their lock once, then work, then write). 2 stale writes rejected by the resource, 7 writes held back by the client's own look at its lock." {
		t.Errorf("harm: %s", got)
	}
	if len(x.Never) != 2 || x.Never[0] != (never{"no pauses of a server", false}) || x.Never[1] != (never{"no partition of a holder outlived its lease", true}) {
		t.Errorf("never: %+v", x.Never)
	}
}

func TestNoRateWhereNoLeaseWasOutlived(t *testing.T) {
	x := newExposed(rundir.Judgement{Model: &model.Model{}, Result: &model.Result{}})
	if got := strings.Join(x.Harm, " "); strings.Contains(got, "for each") || !strings.HasPrefix(got, "0 stale writes accepted. No holder's lease was outlived") {
		t.Errorf("harm: %s", got)
	}
}
