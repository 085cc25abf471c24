package zookeeper

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"lockcheck/clusters/setting"
)

// The names of the settings that are read back.
const (
	tickTime   = "tickTime"
	syncLimit  = "syncLimit"
	minSession = "minSessionTimeout"
	maxSession = "maxSessionTimeout"
	words      = "4lw.commands.whitelist"
)

// ownDefault is how a configuration asks for ZooKeeper's own default of a session bound.
const ownDefault = "-1"

// settings are lines of a server's configuration: all that it does not do as ZooKeeper does it by default, and what is
// useful to change. The tick is chosen so that sessions from 400 ms up are honoured and expire close to their timeout
// (ZooKeeper's own 2 s makes a session of 2 s one of 4 s, which ends up to 2 s late); the limits so that a busy machine does
// not look like a lost leader: a follower gives up after a second.
var settings = setting.Table{
	{Name: tickTime, Default: "200", About: "ms; heartbeats, and the grain in which sessions expire", Check: setting.Number(10, 60_000)},
	{Name: "initLimit", Default: "50", About: "ticks that a follower may take to connect to a leader and load its data", Check: setting.Number(1, 100_000)},
	{Name: syncLimit, Default: "5", About: "ticks after which a follower and its leader give each other up", Check: setting.Number(1, 100_000)},
	{Name: minSession, Default: ownDefault, About: "ms; the shortest session; -1: two ticks", Check: setting.Number(-1, math.MaxInt32)},
	{Name: maxSession, Default: "60000", About: "ms; the longest session; -1: twenty ticks", Check: setting.Number(-1, math.MaxInt32)},
	{Name: "snapCount", Default: "100000", About: "transactions between two snapshots", Check: setting.Number(2, 1_000_000_000)},
	{Name: "forceSync", Default: "yes", About: "sync the transaction log before a change is acknowledged", Check: setting.Choice("yes", "no")},
	// A log is allocated ahead in pieces of this size; ZooKeeper's 64 MB would take 200 MB of memory for three idle
	// servers, because the run's data may be on a tmpfs.
	{Name: "preAllocSize", Default: "4096", About: "KB by which the transaction log grows", Check: setting.Number(64, 65_536)},
	{Name: "maxClientCnxns", Default: "0", About: "connections from one address; 0: no limit", Check: setting.Number(0, math.MaxInt32)},
	{Name: "autopurge.snapRetainCount", Default: "3", About: "snapshots that are kept", Check: setting.Number(3, math.MaxInt32)},
	{Name: "autopurge.purgeInterval", Default: "0", About: "hours between removals of the others; 0: never", Check: setting.Number(0, 1_000_000)},
	// ZooKeeper's own 60 s and 5 s are for wide networks: after a partition a server could wait that long before it votes again.
	{Name: "fastleader.maxNotificationInterval", Default: "1000", About: "ms; a server that hears no votes repeats its own after this at most", Check: setting.Number(200, 60_000)},
	{Name: "cnxTimeout", Default: "1000", About: "ms; for connections between servers before an election", Check: setting.Number(100, 60_000)},
	{Name: words, Default: "srvr,mntr,ruok", About: "four-letter words that are answered; lockcheck needs srvr and mntr", Check: withWords("srvr", "mntr")},
}

func withWords(needed ...string) func(string) error {
	return func(value string) error {
		given := strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == ' ' })
		for _, word := range needed {
			if !slices.Contains(given, word) && !slices.Contains(given, "*") {
				return fmt.Errorf("%q lacks %s, which lockcheck asks servers by", value, word)
			}
		}
		return oneLine(value)
	}
}

func oneLine(value string) error {
	if strings.ContainsAny(value, "\r\n\\") {
		return fmt.Errorf("%q is not one plain line", value)
	}
	return nil
}

// values are settings by name, complete and checked.
type values map[string]string

// resolve completes what was asked for with the defaults.
func resolve(asked map[string]string) (values, error) { return settings.Resolve(asked) }

// times reads the settings that decide how long things take. ZooKeeper refuses the same combinations when it starts; by
// then the user has waited for it.
func (v values) times() (times, error) {
	tick := v.milliseconds(tickTime)
	t := times{tick: tick, sync: tick * time.Duration(v.number(syncLimit)), minSession: 2 * tick, maxSession: 20 * tick}
	if v[minSession] != ownDefault {
		t.minSession = v.milliseconds(minSession)
	}
	if v[maxSession] != ownDefault {
		t.maxSession = v.milliseconds(maxSession)
	}
	if t.minSession > t.maxSession {
		return t, fmt.Errorf("%s is %v, more than %s, which is %v", minSession, t.minSession, maxSession, t.maxSession)
	}
	if t.minSession < time.Millisecond {
		return t, fmt.Errorf("%s=%s is no time for a session", minSession, v[minSession])
	}
	return t, nil
}

// number reads a value that was checked.
func (v values) number(name string) int64 {
	n, _ := strconv.ParseInt(v[name], 10, 64)
	return n
}

func (v values) milliseconds(name string) time.Duration {
	return time.Duration(v.number(name)) * time.Millisecond
}
