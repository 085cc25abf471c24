package postgres

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
	synchronousCommit = "synchronous_commit"
	idleSession       = "idle_session_timeout"
	idleTransaction   = "idle_in_transaction_session_timeout"
	maxConnections    = "max_connections"
)

var onOff = setting.Choice("on", "off")

// settings are lines of each server's configuration, as PostgreSQL has them by default but for times that are made for wide
// networks (how soon a standby connects again) and for memory.
var settings = setting.Table{
	{Name: synchronousCommit, Default: "on", About: "what a commit waits for: off: nothing; local, on: this server's log; " +
		"remote_write, remote_apply: the standby, too, which is then a synchronous one",
		Check: setting.Choice("off", "local", "on", "remote_write", "remote_apply")},
	{Name: "fsync", Default: "on", About: "sync the log to the disk", Check: onOff},
	{Name: "wal_writer_delay", Default: "200", About: "ms; a commit that waits for nothing is in the log after three times this", Check: setting.Number(1, 10_000)},
	{Name: idleSession, Default: "0", About: "ms after which a silent session is ended, and its locks with it; 0: never", Check: setting.Number(0, math.MaxInt32)},
	{Name: idleTransaction, Default: "0", About: "the same for a session that is silent within a transaction", Check: setting.Number(0, math.MaxInt32)},
	{Name: "tcp_keepalives_idle", Default: "0", About: "s of silence after which a client's machine is asked whether it is there; 0: the machine's own, mostly 7200", Check: setting.Number(0, 32_767)},
	{Name: "tcp_keepalives_interval", Default: "0", About: "s between two such questions; 0: the machine's own, mostly 75", Check: setting.Number(0, 32_767)},
	{Name: "tcp_keepalives_count", Default: "0", About: "unanswered ones after which the session is ended; 0: the machine's own, mostly 9", Check: setting.Number(0, 127)},
	{Name: "tcp_user_timeout", Default: "0", About: "ms that sent data may stay unacknowledged; 0: the machine's own, some 15 minutes", Check: setting.Number(0, math.MaxInt32)},
	{Name: "client_connection_check_interval", Default: "0", About: "ms between looks whether the client of a query that waits is there; 0: none", Check: setting.Number(0, math.MaxInt32)},
	{Name: "wal_keep_size", Default: "256", About: "MB of log that are kept for a standby that is cut off", Check: setting.Number(0, 65_536)},
	{Name: "wal_retrieve_retry_interval", Default: "200", About: "ms before a standby connects again", Check: setting.Number(1, 600_000)},
	{Name: "wal_sender_timeout", Default: "60000", About: "ms of silence after which a standby's connection is given up; 0: never", Check: setting.Number(0, math.MaxInt32)},
	{Name: maxConnections, Default: "200", About: "sessions; a lock client has one for each lock that it holds or waits for", Check: setting.Number(10, 10_000)},
	{Name: "shared_buffers", Default: "4096", About: "pages of 8 kB", Check: setting.Number(16, 1_000_000)},
}

// resolve completes and checks what was asked for.
func resolve(asked map[string]string, nodes int, ttl time.Duration) (map[string]string, error) {
	values, err := slices.Concat(settings, poolerSettings).Resolve(asked)
	if err != nil {
		return nil, err
	}
	if err := checkPooler(values, nodes); err != nil {
		return nil, err
	}
	if nodes == 1 && isSynchronous(values) {
		return nil, fmt.Errorf("setting %s: %s waits for a standby, and a server alone has none", synchronousCommit, values[synchronousCommit])
	}
	for _, name := range []string{idleSession, idleTransaction} {
		if timeout := milliseconds(values[name]); timeout > 0 && timeout < ttl {
			return nil, fmt.Errorf("setting %s: %v is shorter than the TTL of %v, of which a client lets a third pass between two signs of life: "+
				"use 0 or at least %d", name, timeout, ttl, ttl.Milliseconds())
		}
	}
	return values, nil
}

// isSynchronous reports whether commits wait for the standby.
func isSynchronous(values map[string]string) bool {
	return strings.HasPrefix(values[synchronousCommit], "remote_")
}

// milliseconds reads a setting that was checked before.
func milliseconds(value string) time.Duration {
	n, _ := strconv.ParseInt(value, 10, 64)
	return time.Duration(n) * time.Millisecond
}

// lines are the settings as lines of a configuration.
func lines(values map[string]string) (all []string) {
	for _, s := range settings {
		all = append(all, fmt.Sprintf("%s = %s", s.Name, values[s.Name]))
	}
	return slices.Clip(all)
}
