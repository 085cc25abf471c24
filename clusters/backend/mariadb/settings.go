package mariadb

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"lockcheck/clusters/setting"
)

// The names of the settings that are read back.
const (
	waitTimeout     = "wait_timeout"
	idleTransaction = "idle_transaction_timeout"
)

// settings are lines of each server's configuration, as MariaDB has them by default but for those that make a crash lose nothing (sync_binlog),
// and for memory.
var settings = setting.Table{
	{Name: waitTimeout, Default: "28800", About: "s after which a silent session is ended, and its locks with it", Check: setting.Number(1, 31_536_000)},
	{Name: idleTransaction, Default: "0", About: "the same for a session that is silent within a transaction; 0: never", Check: setting.Number(0, 31_536_000)},
	{Name: "innodb_flush_log_at_trx_commit", Default: "1", About: "1: a commit waits until the log is synced; 0, 2: the log is synced once in a second", Check: setting.Choice("0", "1", "2")},
	{Name: "sync_binlog", Default: "1", About: "commits after which the log for replicas is synced; 0: never", Check: setting.Number(0, 1_000_000)},
	{Name: "innodb_lock_wait_timeout", Default: "50", About: "s that a request waits for a row; the clients then ask again", Check: setting.Number(1, 100_000_000)},
	{Name: "tcp_keepalive_time", Default: "0", About: "s of silence after which a client's machine is asked whether it is there; 0: the machine's own, mostly 7200", Check: setting.Number(0, 3600)},
	{Name: "tcp_keepalive_interval", Default: "0", About: "s between two such questions; 0: the machine's own, mostly 75", Check: setting.Number(0, 3600)},
	{Name: "tcp_keepalive_probes", Default: "0", About: "unanswered ones after which the session is ended; 0: the machine's own, mostly 9", Check: setting.Number(0, 100)},
	{Name: "slave_net_timeout", Default: "60", About: "s of silence after which a replica connects again", Check: setting.Number(1, 3600)},
	{Name: "max_connections", Default: "200", About: "sessions; a lock client has one for each lock that it holds or waits for", Check: setting.Number(10, 10_000)},
	{Name: "innodb_buffer_pool_size", Default: "33554432", About: "bytes", Check: setting.Number(5<<20, 1<<40)},
}

// silences are the settings after which the server ends a session that is silent.
var silences = []string{waitTimeout, idleTransaction}

// resolve completes and checks what was asked for.
func resolve(asked map[string]string, ttl time.Duration) (map[string]string, error) {
	values, err := slices.Concat(settings, galeraSettings).Resolve(asked)
	if err != nil {
		return nil, err
	}
	for _, name := range silences {
		if timeout := seconds(values[name]); timeout > 0 && timeout < ttl {
			return nil, fmt.Errorf("setting %s: %v is shorter than the TTL of %v, of which a client lets a third pass between two signs of life: "+
				"use at least %d", name, timeout, ttl, int64((ttl+time.Second-1)/time.Second))
		}
	}
	return values, nil
}

// seconds reads a setting that was checked before.
func seconds(value string) time.Duration {
	n, _ := strconv.ParseInt(value, 10, 64)
	return time.Duration(n) * time.Second
}

// lines are the settings as lines of a configuration.
func lines(values map[string]string) (all []string) {
	for _, s := range settings {
		all = append(all, fmt.Sprintf("%s = %s", s.Name, values[s.Name]))
	}
	return slices.Clip(all)
}
