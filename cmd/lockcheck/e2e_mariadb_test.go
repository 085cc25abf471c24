//go:build e2e

package main_test

import (
	"lockcheck/checker/history"
	"lockcheck/checker/model"
)

func init() {
	aimedRows = append(aimedRows, aimed{
		name: "a silent session is ended", backend: "mariadb",
		args:    []string{"--set=wait_timeout=2", "--nemesis=pause:holder@work", "--time-limit=12s"},
		why:     "with wait_timeout a lock of a session is lost like a lease: its paused holder writes when another has it",
		exposed: history.PastLease("pauses"), violates: []model.Name{model.MutualExclusion, model.StaleWrite}, may: belief,
	}, aimed{
		name: "a session outlives a pause", backend: "mariadb", args: []string{"--nemesis=pause:holder@work", meetsPause, "--time-limit=12s"},
		why:     "the server keeps the lock of a client that is silent",
		exposed: history.PastLease("pauses"),
	}, aimed{
		name: "a node of Galera crashes", backend: "mariadb",
		args:    []string{"--set=cluster=galera", "--client=row-lease", "--nemesis=kill:one@work", untilExposed, atMost},
		why:     "what was acknowledged is on the other nodes; a holder that cannot reach its own in time may believe too long",
		exposed: history.OfServers("kills"), may: belief,
	})
}
