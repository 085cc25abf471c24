package zookeeper

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// setting is one line of a server's configuration: ZooKeeper's own name for it, what it is unless somebody says
// otherwise, and which values it takes.
type setting struct {
	name, usual, about string
	check              func(value string) error
}

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

// settings is all that a server does not do as ZooKeeper does it by default, and what is useful to change. The tick is
// chosen so that sessions from 400 ms up are honoured and expire close to their timeout (ZooKeeper's own 2 s makes a
// session of 2 s one of 4 s, which ends up to 2 s late); the limits so that a busy machine does not look like a lost
// leader: a follower gives up after a second.
var settings = []setting{
	{tickTime, "200", "ms; heartbeats, and the grain in which sessions expire", whole(10, 60_000)},
	{"initLimit", "50", "ticks that a follower may take to connect to a leader and load its data", whole(1, 100_000)},
	{syncLimit, "5", "ticks after which a follower and its leader give each other up", whole(1, 100_000)},
	{minSession, ownDefault, "ms; the shortest session; -1: two ticks", whole(-1, math.MaxInt32)},
	{maxSession, "60000", "ms; the longest session; -1: twenty ticks", whole(-1, math.MaxInt32)},
	{"snapCount", "100000", "transactions between two snapshots", whole(2, 1_000_000_000)},
	{"forceSync", "yes", "sync the transaction log before a change is acknowledged", oneOf("yes", "no")},
	// A log is allocated ahead in pieces of this size; ZooKeeper's 64 MB would take 200 MB of memory for three idle
	// servers, because the run's data may be on a tmpfs.
	{"preAllocSize", "4096", "KB by which the transaction log grows", whole(64, 65_536)},
	{"maxClientCnxns", "0", "connections from one address; 0: no limit", whole(0, math.MaxInt32)},
	{"autopurge.snapRetainCount", "3", "snapshots that are kept", whole(3, math.MaxInt32)},
	{"autopurge.purgeInterval", "0", "hours between removals of the others; 0: never", whole(0, 1_000_000)},
	// ZooKeeper's own 60 s and 5 s are for wide networks: after a partition a server could wait that long before it votes again.
	{"fastleader.maxNotificationInterval", "1000", "ms; a server that hears no votes repeats its own after this at most", whole(200, 60_000)},
	{"cnxTimeout", "1000", "ms; for connections between servers before an election", whole(100, 60_000)},
	{words, "srvr,mntr,ruok", "four-letter words that are answered; lockcheck needs srvr and mntr", withWords("srvr", "mntr")},
}

func whole(least, most int64) func(string) error {
	return func(value string) error {
		if n, err := strconv.ParseInt(value, 10, 64); err != nil || n < least || n > most {
			return fmt.Errorf("%q is no whole number from %d to %d", value, least, most)
		}
		return nil
	}
}

func oneOf(values ...string) func(string) error {
	return func(value string) error {
		if !slices.Contains(values, value) {
			return fmt.Errorf("%q is none of %s", value, strings.Join(values, ", "))
		}
		return nil
	}
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

// resolve completes what was asked for with what is usual.
func resolve(asked map[string]string) (values, error) {
	var errs []error
	for name := range asked {
		if !slices.ContainsFunc(settings, func(s setting) bool { return s.name == name }) {
			errs = append(errs, fmt.Errorf("there is no setting %q; there are: %s", name, strings.Join(settingNames(), ", ")))
		}
	}
	all := values{}
	for _, s := range settings {
		value, ok := asked[s.name]
		if !ok {
			value = s.usual
		}
		if err := s.check(value); err != nil {
			errs = append(errs, fmt.Errorf("setting %s: %w", s.name, err))
		}
		all[s.name] = value
	}
	return all, errors.Join(errs...)
}

func settingNames() []string {
	var names []string
	for _, s := range settings {
		names = append(names, s.name)
	}
	return names
}

// times reads the settings that decide how long things take. ZooKeeper refuses the same combinations when it starts; by
// then the user has waited for it.
func (v values) times() (times, error) {
	tick := v.milliseconds(tickTime)
	t := times{tick: tick, sync: tick * time.Duration(v.number(syncLimit)), least: 2 * tick, most: 20 * tick}
	if v[minSession] != ownDefault {
		t.least = v.milliseconds(minSession)
	}
	if v[maxSession] != ownDefault {
		t.most = v.milliseconds(maxSession)
	}
	if t.least > t.most {
		return t, fmt.Errorf("%s is %v, more than %s, which is %v", minSession, t.least, maxSession, t.most)
	}
	if t.least < time.Millisecond {
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
