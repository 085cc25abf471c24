package etcd

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// setting is one of a member's settings: etcd's own flag of that name, what it is unless somebody says otherwise, and
// which values make sense here. Every etcd from 3.4.10 to 3.7 has the flags.
type setting struct {
	name, usual, about string
	check              func(value string) error
}

// The names of the settings that are read back.
const (
	heartbeatInterval = "heartbeat-interval"
	electionTimeout   = "election-timeout"
)

// settings is all that a member does not do as etcd does it by default, and what is useful to change. Heartbeat and
// election are chosen so that a lease of 1 s and up is honoured, that a machine with a busy processor does not look
// like a lost leader, and that members seldom stand for election at the same moment: they do if they draw the same of
// election / heartbeat ticks, and each split vote costs an election timeout of the start-up.
var settings = []setting{
	{heartbeatInterval, "50", "interval of the leader's heartbeats, in ms", number(10, 10_000)},
	{electionTimeout, "600", "election timeout in ms, at least 5 heartbeats", number(50, 50_000)},
	{"pre-vote", "true", "ask before an election whether it could be won", choice("true", "false")},
	{"snapshot-count", "10000", "transactions between two snapshots", number(1, 1_000_000)},
	{"quota-backend-bytes", "536870912", "size at which a member stops to take writes", number(16<<20, 8<<30)},
	{"unsafe-no-fsync", "false", "do not sync the write-ahead log", choice("true", "false")},
	{"log-level", "info", "of the member's log: debug, info, warn, error", choice("debug", "info", "warn", "error")},
}

func number(least, most uint64) func(string) error {
	return func(value string) error {
		if n, err := strconv.ParseUint(value, 10, 64); err != nil || n < least || n > most {
			return fmt.Errorf("%q is no whole number from %d to %d", value, least, most)
		}
		return nil
	}
}

func choice(values ...string) func(string) error {
	return func(value string) error {
		if !slices.Contains(values, value) {
			return fmt.Errorf("%q is none of %s", value, strings.Join(values, ", "))
		}
		return nil
	}
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
	for _, s := range settings {
		flags = append(flags, "--"+s.name+"="+v[s.name])
	}
	return flags
}
