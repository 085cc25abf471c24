package testkit

import (
	"lockcheck/checker/model"
	"lockcheck/reports/rundir"
)

// Died is a run in which clients of these names ended by themselves.
func Died(names ...string) rundir.Judgement {
	j := EtcdPauseRun()
	j.Model.Clients = map[string]*model.Client{"c1": {Name: "c1"}, "c9": {Name: "c9", ExitNS: 5}} // c9 was ended
	for _, name := range names {
		j.Model.Clients[name] = &model.Client{Name: name, ExitNS: 5, Died: true}
	}
	j.Result.Stats.ClientDeaths = int64(len(names))
	return j
}
