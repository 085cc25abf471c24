package page

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
	"lockcheck/reports/rundir"
	"lockcheck/reports/words"
)

func figures(j rundir.Judgement) []fact {
	s := j.Result.Stats
	stalls := "of the harness or the machine"
	if s.Stalls > 0 {
		stalls += ", " + history.Duration(s.StalledNS) + " in all; never counted as a cause"
	}
	facts := []fact{
		{"operations", history.Grouped(s.Ops), fmt.Sprintf("%s ok, %s failed, %s unknown", history.Grouped(s.OK), history.Grouped(s.Fail), history.Grouped(s.Info))},
		{"pace", strconv.FormatFloat(s.OpsPerSecond, 'f', 1, 64) + "/s", "over " + history.Duration(s.DurationNS)},
		{"available", words.Percent(s.Availability), "of the seconds in which a client asked"},
		{"stalls", history.Grouped(s.Stalls), stalls},
	}
	if free := s.FreeWanted; free.NotJudged == "" {
		facts = append(facts, fact{"free while wanted", words.Percent(free.Share), fmt.Sprintf("of the load no client held the lock while one waited for it: %s", words.FreeWanted(s))})
	}
	if s.Jobs != nil {
		facts = append(facts, fact{"jobs", history.Grouped(s.Jobs.Recorded) + " of " + history.Grouped(s.Jobs.Due), words.Jobs(j.Plan, s.Jobs)})
	}
	if calls := words.ClosestCalls(j); len(calls) > 0 {
		facts = append(facts, fact{"closest calls", history.Grouped(int64(len(calls))), strings.Join(calls, "; ")})
	}
	return append(facts, queueingFigures(j)...)
}

type latencyRow struct {
	Name string
	Q    model.Quantiles
}

// latencies are the rows of the table of times taken, over the whole run.
func latencies(s model.Stats) (rows []latencyRow) {
	for _, name := range sortedKeys(s.Latency) {
		rows = append(rows, latencyRow{cmp.Or(timedWords[name], name), s.Latency[name]})
	}
	return append(rows, latencyRow{"old holder told, after another's grant", s.LossSignal},
		latencyRow{"lock taken over, after its holder died or a fault hit it", s.TakeOver})
}

// timedWords are what operations are called where their times are shown.
var timedWords = map[string]string{
	"acquire": "acquire: waiting for the lock",
	"write":   "write: work under the lock, and the write",
}

// queueingFigures are the tiles of the report, each with what it means.
func queueingFigures(j rundir.Judgement) (facts []fact) {
	s := j.Result.Stats
	if s.AttemptsPerGrant > 0 {
		facts = append(facts, fact{"requests for each grant", words.AttemptsPerGrant(s.AttemptsPerGrant),
			"sent to the service by all clients, failed ones included: a lock that wakes up all its waiters, or lets them poll, takes many"})
	}
	if s.AttemptsPerGrant > 0 && words.Queued(j.Model) {
		facts = append(facts, fact{"grants that jumped the queue", history.Grouped(s.Overtakes), "made before a request that had queued earlier: a lock that serves its waiters in turn has none"})
	}
	return facts
}
