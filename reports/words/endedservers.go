package words

import (
	"fmt"
	"path"

	"lockcheck/checker/history"
	"lockcheck/reports/rundir"
)

// EndedServers says of each server that ended by itself after a power cut what came of it: a sentence without its full stop.
func EndedServers(j rundir.Judgement) (all []string) {
	for _, s := range j.Result.Stats.EndedServers {
		how := Clip(s.How, MaxSentence)
		all = append(all, fmt.Sprintf("%s ended by itself at %s, started from what a power cut had left (%s); its log is in %s",
			s.Server, history.Moment(s.TimeNS), how, path.Join(rundir.NodesFolder, s.Server)))
	}
	return all
}
