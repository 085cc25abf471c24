//go:build e2e

package main_test

import (
	"time"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
)

var s3Rows = []aimed{
	{
		name: "a holder dies", backend: "s3", args: []string{"--work=3s..3.5s", "--nemesis=kill:holder@work", "--time-limit=16s"},
		why:     "its record expires by the waiters' clocks",
		exposed: history.OfHolders("kills"), also: takenOverWithin(3 * time.Second), // the lease, and a machine that is busy
	},
	{
		name: "a client's clock is set", backend: "s3", args: []string{"--nemesis=clock:client", "--until=early-expiry", "--time-limit=30s"},
		why:     "nobody but the clients counts a lease",
		exposed: "clock-skews", violates: []model.Name{model.EarlyExpiry}, may: anything, local: true,
	},
	{
		name: "power goes, and the gateway syncs nothing", backend: "s3",
		args:    []string{"--nemesis=power:all@acquire", "--until=token-monotonicity", "--time-limit=40s"},
		why:     "what was acknowledged is gone, and generations begin anew",
		exposed: history.OfServers("power-cuts"), violates: []model.Name{model.TokenMonotonicity}, may: anything, local: true,
		also: blamesThePower,
	},
}

func init() {
	aimedRows = append(aimedRows, s3Rows...)
	clientRows = append(clientRows,
		clientRow{backend: "s3", client: "lease-delete", nemesis: pause, violated: harmed},
		// ETags are not ordered: no fault is needed to see it.
		clientRow{backend: "s3", client: "etag-token", nemesis: none, violated: []model.Name{model.TokenMonotonicity}})
}
