package reports

import (
	"fmt"
	"strconv"

	"lockcheck/checker"
)

func figures(s checker.Stats) []fact {
	stalls := "of the harness or the machine"
	if s.Stalls > 0 {
		stalls += ", " + span(s.StalledNS) + " in all; nothing is blamed on those"
	}
	return []fact{
		{"operations", grouped(s.Ops), fmt.Sprintf("%s ok, %s failed, %s unknown", grouped(s.OK), grouped(s.Fail), grouped(s.Info))},
		{"pace", strconv.FormatFloat(s.OpsPerSecond, 'f', 1, 64) + "/s", "over " + span(s.DurationNS)},
		{"available", percent(s.Availability), "of the seconds in which somebody asked"},
		{"stalls", grouped(s.Stalls), stalls},
	}
}

type latencyRow struct {
	Name string
	Q    checker.Quantiles
}

// latencies are the rows of the table of times taken, over the whole run.
func latencies(s checker.Stats) (rows []latencyRow) {
	for _, name := range sortedKeys(s.Latency) {
		rows = append(rows, latencyRow{firstOf(timedWords[name], name), s.Latency[name]})
	}
	return append(rows, latencyRow{"old holder told, after another's grant", s.LossSignal},
		latencyRow{"lock taken over, after its holder died or a fault hit it", s.TakeOver})
}

// timedWords are what operations are called where their times are shown.
var timedWords = map[string]string{
	"acquire": "acquire: waiting for the lock",
	"write":   "write: work under the lock, and the write",
}
