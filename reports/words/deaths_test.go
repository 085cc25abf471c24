package words

import (
	"testing"

	"lockcheck/checker/model"
	"lockcheck/reports/rundir"
)

func TestEndedServersAreNamed(t *testing.T) {
	j := rundir.Judgement{Result: &model.Result{}}
	if said := EndedServers(j); len(said) != 0 {
		t.Errorf("none ended: %q", said)
	}
	j.Result.Stats.EndedServers = []model.EndedServer{{TimeNS: 4_161_000_000, Server: "n1", How: "exit status 1"}}
	const want = "n1 ended by itself at 4.161 s, started from what a power cut had left (exit status 1); its log is in nodes/n1"
	if said := EndedServers(j); len(said) != 1 || said[0] != want {
		t.Errorf("said %q, want %q", said, want)
	}
}
