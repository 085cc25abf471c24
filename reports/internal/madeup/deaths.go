package madeup

import (
	"lockcheck/checker"
	"lockcheck/reports/rundir"
)

// Died is a run in which clients of these names ended by themselves.
func Died(names ...string) rundir.Judgement {
	j := EtcdPauseRun()
	j.Model.Clients = map[string]*checker.Client{"c1": {Name: "c1"}, "c9": {Name: "c9", ExitNS: 5}} // c9 was ended
	for _, name := range names {
		j.Model.Clients[name] = &checker.Client{Name: name, ExitNS: 5, Died: true}
	}
	j.Result.Stats.ClientDeaths = int64(len(names))
	return j
}
