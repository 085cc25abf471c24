package server

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"lockcheck/clusters/setting"
)

// The names of the settings that are read back.
const (
	heartbeatInterval = "heartbeat-interval"
	electionTimeout   = "election-timeout"
)

// Settings are etcd's own flags: all that a member does not do as etcd does it by default, and what is useful to change.
// Every etcd from 3.4.10 to 3.7 has them. Heartbeat and election are chosen so that a lease of 1 s and up is honoured, that
// a machine with a busy processor does not look like a lost leader, and that members seldom stand for election at the same
// moment: they do if they draw the same of election / heartbeat ticks, and each split vote costs an election timeout of the
// start-up.
var Settings = setting.Table{
	{Name: heartbeatInterval, Default: "50", About: "interval of the leader's heartbeats, in ms", Check: setting.Number(10, 10_000)},
	{Name: electionTimeout, Default: "600", About: "election timeout in ms, at least 5 heartbeats", Check: setting.Number(50, 50_000)},
	{Name: "pre-vote", Default: "true", About: "ask before an election whether it could be won", Check: setting.Choice("true", "false")},
	{Name: "snapshot-count", Default: "10000", About: "transactions between two snapshots", Check: setting.Number(1, 1_000_000)},
	{Name: "quota-backend-bytes", Default: "536870912", About: "size at which a member stops to take writes", Check: setting.Number(16<<20, 8<<30)},
	{Name: "unsafe-no-fsync", Default: "false", About: "do not sync the write-ahead log", Check: setting.Choice("true", "false")},
	{Name: "log-level", Default: "info", About: "of the member's log: debug, info, warn, error", Check: setting.Choice("debug", "info", "warn", "error")},
}

// values are settings by name, complete and checked.
type values map[string]string

// resolve completes what was asked for with the defaults.
func resolve(asked map[string]string) (values, error) { return Settings.Resolve(asked) }

// times reads the settings that decide how long things take. etcd refuses the same combinations when it starts;
// by then the user has waited for it.
func (v values) times() (times, error) {
	heartbeat, err1 := strconv.Atoi(v[heartbeatInterval])
	election, err2 := strconv.Atoi(v[electionTimeout])
	if err := errors.Join(err1, err2); err != nil {
		return times{}, err
	}
	if election < 5*heartbeat {
		return times{}, fmt.Errorf("%s=%d is less than 5 times %s=%d", electionTimeout, election, heartbeatInterval, heartbeat)
	}
	return times{time.Duration(heartbeat) * time.Millisecond, time.Duration(election) * time.Millisecond}, nil
}

// flags are etcd's own for these settings.
func (v values) flags() []string {
	var flags []string
	for _, s := range Settings {
		flags = append(flags, "--"+s.Name+"="+v[s.Name])
	}
	return flags
}
