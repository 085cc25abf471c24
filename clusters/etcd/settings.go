package etcd

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
	"go.etcd.io/etcd/server/v3/storage/wal"
)

// setting is one of a member's settings: its name for --set and for the node command, what it is unless somebody says
// otherwise, and how a value is read and applied. use with a nil config only checks the value.
type setting struct {
	name, usual, about string
	use                func(cfg *embed.Config, value string) error
}

// The names of the settings that are read back.
const (
	heartbeatMS = "heartbeat-ms"
	electionMS  = "election-ms"
)

// settings is all that a member does not do as etcd does it by default, and what is useful to change. Heartbeat and
// election are chosen so that a lease of 1 s and up is honoured, that a machine with a busy processor does not look
// like a lost leader, and that members seldom stand for election at the same moment: they do if they draw the same of
// election / heartbeat ticks, and each split vote costs an election timeout of the start-up.
var settings = []setting{
	{heartbeatMS, "50", "interval of the leader's heartbeats", number(10, 10_000, func(cfg *embed.Config, n uint64) { cfg.TickMs = uint(n) })},
	{electionMS, "600", "election timeout, at least 5 heartbeats", number(50, 50_000, func(cfg *embed.Config, n uint64) { cfg.ElectionMs = uint(n) })},
	{"pre-vote", "true", "ask before an election whether it could be won", toggle(func(cfg *embed.Config, on bool) { cfg.PreVote = on })},
	{"snapshot-count", "10000", "transactions between two snapshots", number(1, 1_000_000, func(cfg *embed.Config, n uint64) { cfg.SnapshotCount = n })},
	{"quota-bytes", "536870912", "size at which a member stops to take writes", number(16<<20, 8<<30, func(cfg *embed.Config, n uint64) { cfg.QuotaBackendBytes = int64(n) })},
	// Segments are allocated ahead, two for a member; etcd's 64 MB would take 400 MB of memory for three idle ones,
	// because the run's data is on a tmpfs.
	{"wal-segment-bytes", "8000000", "size of a segment of the write-ahead log", number(1<<20, 64_000_000, func(_ *embed.Config, n uint64) { wal.SegmentSizeBytes = int64(n) })},
	{"unsafe-no-fsync", "false", "do not sync the write-ahead log", toggle(func(cfg *embed.Config, on bool) { cfg.UnsafeNoFsync = on })},
	{"log-level", "info", "of the member's log: debug, info, warn, error", choice([]string{"debug", "info", "warn", "error"}, func(cfg *embed.Config, level string) { cfg.LogLevel = level })},
}

func number(least, most uint64, set func(*embed.Config, uint64)) func(*embed.Config, string) error {
	return func(cfg *embed.Config, value string) error {
		n, err := strconv.ParseUint(value, 10, 64)
		if err != nil || n < least || n > most {
			return fmt.Errorf("%q is no whole number from %d to %d", value, least, most)
		}
		if cfg != nil {
			set(cfg, n)
		}
		return nil
	}
}

func toggle(set func(*embed.Config, bool)) func(*embed.Config, string) error {
	return choice([]string{"true", "false"}, func(cfg *embed.Config, value string) { set(cfg, value == "true") })
}

func choice(values []string, set func(*embed.Config, string)) func(*embed.Config, string) error {
	return func(cfg *embed.Config, value string) error {
		if !slices.Contains(values, value) {
			return fmt.Errorf("%q is none of %s", value, strings.Join(values, ", "))
		}
		if cfg != nil {
			set(cfg, value)
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
		if err := s.use(nil, value); err != nil {
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
	heartbeat, err1 := strconv.Atoi(v[heartbeatMS])
	election, err2 := strconv.Atoi(v[electionMS])
	if err := errors.Join(err1, err2); err != nil {
		return times{}, err
	}
	if election < 5*heartbeat {
		return times{}, fmt.Errorf("%s=%d is less than 5 times %s=%d", electionMS, election, heartbeatMS, heartbeat)
	}
	return times{time.Duration(heartbeat) * time.Millisecond, time.Duration(election) * time.Millisecond}, nil
}

// args are the node command's flags for these settings.
func (v values) args() []string {
	var args []string
	for _, s := range settings {
		args = append(args, "--"+s.name+"="+v[s.name])
	}
	return args
}

// apply puts the settings into a member's configuration.
func (v values) apply(cfg *embed.Config) error {
	for _, s := range settings {
		if err := s.use(cfg, v[s.name]); err != nil {
			return fmt.Errorf("setting %s: %w", s.name, err)
		}
	}
	return nil
}
