package reports

import (
	"strings"
	"testing"

	"lockcheck/checker/model"
	"lockcheck/reports/testkit"
	"lockcheck/reports/words"
)

// What hung is said in the verdict's own sentence, from three leases on: on the terminal and on the page. It changes no verdict.
func TestAHangIsWarnedOfInTheVerdict(t *testing.T) {
	const starved = "; warning: c3 waited for k1 for 12.3 s, from 17.020 s on, although no client is known to have held it and no fault was in effect: the lock hangs, or it is slow"
	const free = "; warning: k1 was free for 12.3 s, from 17.020 s on, while c3 waited for it: the lock hangs, or it is slow"
	for name, test := range map[string]struct {
		starved, free int64
		unjudged      string
		retryMS       int64
		says          string
	}{
		"nothing":                  {0, 0, "", 0, ""},
		"three leases":             {6e9, 6e9, "", 0, ""},
		"more":                     {12.3e9, 12.3e9, "", 0, free},
		"its client asks so often": {12.3e9, 12.3e9, "", 7000, ""},
		"no plain writes":          {12.3e9, 0, "no plain writes to the service were made during the load", 0, starved},
	} {
		t.Run(name, func(t *testing.T) {
			j := testkit.EtcdPauseRun()
			before := words.Sentence(j.Plan, j.Result)
			j.Plan.EffectiveMS, j.Plan.RetryMS = 2000, test.retryMS
			long := (&model.Model{Plan: j.Plan}).LongWait
			j.Result.Stats.Starved = model.Starvation{NS: test.starved, FromNS: 17.02e9, Key: "k1", Client: "c3", Long: long(test.starved)}
			j.Result.Stats.FreeWanted = model.FreeWanted{NotJudged: test.unjudged, Longest: model.FreeStretch{NS: test.free, FromNS: 17.02e9, Key: "k1", Client: "c3", Long: long(test.free)}}
			if got := words.Sentence(j.Plan, j.Result); got != before+test.says {
				t.Errorf("%q", got)
			}
			for where, text := range map[string]string{"terminal": said(t, j), "page": shown(t, j)} {
				if !strings.Contains(text, before+test.says) {
					t.Errorf("not on the %s", where)
				}
			}
		})
	}
}

func TestOperationsWithoutAnswerAreNamedInTheVerdict(t *testing.T) {
	j := testkit.EtcdPauseRun()
	j.Result.Stats.WithoutAnswer = []model.Unanswered{{Client: "c1", F: "acquire", Count: 1}, {Client: "c2", F: "release", Count: 7}, {Client: "c4", F: "release", Count: 1}}
	if got := words.Sentence(j.Plan, j.Result); !strings.HasSuffix(got, "; 1 acquire of c1 and 8 releases of c2, c4 never answered, and no fault explains it") {
		t.Errorf("%q", got)
	}
}
