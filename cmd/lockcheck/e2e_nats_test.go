//go:build e2e

package main_test

import (
	"testing"
	"time"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
)

// A holder that dies after a renewal by Update is the gallery's (nats-update-removes-ttl): liveness fails, which no row here may.
var natsRows = []aimed{
	{
		name: "a lease outlived, fenced", backend: "nats",
		args:    []string{"--workload=fencing", "--nemesis=pause:holder@work", meetsPause, "--time-limit=12s"},
		why:     "a revision is a token: the late write is rejected",
		exposed: history.PastLease("pauses"), also: masks,
	},
	{
		name: "a holder dies", backend: "nats",
		args:    []string{"--work=3s..3.5s", "--nemesis=kill:holder@work", "--time-limit=20s"},
		why:     "a key that was renewed with its TTL expires",
		exposed: history.OfHolders("kills"), also: takenOverWithin(4 * time.Second), // the lease, and the grace of 2 s that the layout declares
	},
	{
		name: "the leader dies", backend: "nats", args: []string{"--nemesis=kill:leader", "--time-limit=24s"},
		why:     "an election takes longer than a lease: clients hear of the loss by their own clocks, and no lock is granted twice",
		exposed: history.OfServers("kills"), may: belief,
	},
	{
		name: "the leader steps down", backend: "nats", args: []string{"--nemesis=failover@work", "--time-limit=12s"},
		why:     "the next leader has all that was acknowledged",
		exposed: "failovers", may: belief,
	},
	{
		name: "servers are cut off from each other", backend: "nats", args: []string{"--nemesis=" + splits, "--time-limit=20s"},
		why:     "a minority acknowledges nothing; a holder connected to it may believe too long",
		exposed: history.OfServers("partitions"), may: belief,
	},
	{
		name: "power goes, and NATS syncs every two minutes", backend: "nats",
		args:    []string{"--nemesis=power:all@acquire", "--until=token-monotonicity", "--time-limit=40s"},
		why:     "what was acknowledged since the last sync is gone, and revisions go back",
		exposed: history.OfServers("power-cuts"), violates: []model.Name{model.TokenMonotonicity}, may: anything, local: true,
		also: blamesThePower,
	},
	{
		name: "power goes, and NATS syncs before it answers", backend: "nats",
		args:    []string{"--set=sync_interval=always", "--nemesis=power:all@acquire", "--time-limit=20s"},
		why:     "what was acknowledged is on the disk",
		exposed: history.OfServers("power-cuts"), may: belief, local: true,
	},
}

func init() {
	aimedRows = append(aimedRows, natsRows...)
	clientRows = append(clientRows,
		clientRow{backend: "nats", client: "kv-update", nemesis: pause, violated: harmed},
		clientRow{backend: "nats", client: "kv-create-poll", nemesis: pause, violated: harmed})
}

// takenOverWithin looks how long after a holder's death the next client has the lock.
func takenOverWithin(most time.Duration) func(*testing.T, outcome) {
	return func(t *testing.T, o outcome) {
		t.Helper()
		took := o.results.Stats.TakeOver
		t.Logf("taken over %v after a holder's death (median of %d)", time.Duration(took.P50NS), took.Count)
		if took.Count == 0 || time.Duration(took.MaxNS) > most {
			t.Errorf("%v at most; want at most %v", time.Duration(took.MaxNS), most)
		}
	}
}
