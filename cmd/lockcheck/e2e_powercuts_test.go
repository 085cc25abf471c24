//go:build e2e

package main_test

import (
	"testing"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
)

// What servers have to remember, or do not, when they lose their power.
var powerRows = []aimed{
	{
		// Each cut takes the counter of the grant that it waited for, unless the sync of that second came in the millisecond between.
		name: "power goes, and Redis syncs every second", backend: "redis",
		args:    []string{"--nodes=1", "--client=setnx-incr", "--set=appendonly=yes", "--nemesis=power:all@acquire", "--until=token-monotonicity", "--time-limit=20s"},
		why:     "what was acknowledged since the last second's sync is gone, the counter of tokens with it",
		exposed: history.OfServers("power-cuts"), violates: []model.Name{model.TokenMonotonicity}, may: anything, local: true,
		also: blamesThePower,
	},
	{
		name: "power goes, and Redis syncs before it answers", backend: "redis",
		args:    []string{"--nodes=1", "--client=setnx-incr", "--set=appendonly=yes", "--set=appendfsync=always", "--nemesis=power:all@acquire", "--time-limit=8s"},
		why:     "what was acknowledged is on the disk",
		exposed: history.OfServers("power-cuts"), local: true,
	},
}

func init() { aimedRows = append(aimedRows, powerRows...) }

// blamesThePower wants every token that went back put down to the power cut before it.
func blamesThePower(t *testing.T, o outcome) {
	t.Helper()
	for _, f := range o.of(t, model.TokenMonotonicity).Findings {
		if f.Cause.Kind != "power cut of all" {
			t.Errorf("%s: %s", f.Summary, f.Cause.Text)
		}
	}
}
