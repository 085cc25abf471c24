package consul

import (
	"fmt"
	"strconv"
	"time"

	"lockcheck/clusters/setting"
)

// The names of the settings that are read back.
const (
	raftMultiplier = "raft_multiplier"
	sessionTTLMin  = "session_ttl_min"
	lockDelay      = "lock-delay"
	cleanupDead    = "cleanup_dead_servers"
	logLevel       = "log_level"
)

// settings are Consul's own, but for two that make sessions of a few seconds possible and a lost leader noticed soon
// (session_ttl_min, 10 s by default, and raft_multiplier, 5), and one that keeps a killed server a member. lock-delay is not
// the servers' but that of each session: clients ask for it.
var settings = setting.Table{
	{Name: sessionTTLMin, Default: "1s", About: "the shortest TTL that a session may ask for; Consul's own: 10s", Check: span(time.Millisecond, maxTTL)},
	{Name: lockDelay, Default: "15s", About: "for how long a lock is granted to no client once the session of its holder was ended; 0s: not at all", Check: span(0, time.Minute)},
	{Name: raftMultiplier, Default: "1", About: "scales the time after which a silent leader is given up, 1 to 2 s; Consul's own: 5", Check: setting.Number(1, 10)},
	{Name: cleanupDead, Default: "false", About: "whether a server that is gone is no longer counted as one after some 15 s; Consul's own: true", Check: setting.Choice("true", "false")},
	{Name: logLevel, Default: "INFO", About: "of a server's log: TRACE, DEBUG, INFO, WARN, ERR", Check: setting.Choice("TRACE", "DEBUG", "INFO", "WARN", "ERR")},
}

// span checks for a time as Consul writes it, "1500ms", "15s", in whole milliseconds of [from, to].
func span(from, to time.Duration) func(string) error {
	return func(value string) error {
		d, err := time.ParseDuration(value)
		if err != nil || d < from || d > to || d%time.Millisecond != 0 {
			return fmt.Errorf("%q is no time from %v to %v in whole milliseconds, such as 1500ms or 15s", value, from, to)
		}
		return nil
	}
}

// duration reads a setting that was checked before.
func duration(value string) time.Duration {
	d, _ := time.ParseDuration(value)
	return d
}

// number reads a setting that was checked before.
func number(value string) int64 {
	n, _ := strconv.ParseInt(value, 10, 64)
	return n
}
