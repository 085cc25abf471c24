package testkit

import (
	"fmt"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
	"lockcheck/reports/rundir"
)

// LongRun is the made-up run, and after it an hour in which five clients take turns, unharmed.
func LongRun() rundir.Judgement {
	j := EtcdPauseRun()
	const holds = 60_000
	j.Model.EndNS = 3600 * Second
	for i := range int64(holds) {
		at := 24*Second + i*(3500*Second/holds)
		h := &model.Hold{ID: fmt.Sprint("x", i), Key: "k1", Client: fmt.Sprint("c", i%5+1), Token: fmt.Sprint(i), InvokeNS: at, DoneNS: at, BelievedNS: at + 5e6, ReleaseNS: at + 5e6, Outcome: history.OK}
		j.Model.Holds = append(j.Model.Holds, h)
		j.Model.Requests.Append(history.Request{Seq: i + 1000, Key: "k1", Kind: history.KindWrite, Hold: h.ID, Outcome: history.Applied, TimeNS: at})
	}
	return j
}
