package redis

import (
	"fmt"
	"slices"
	"strconv"

	"lockcheck/clusters/backend/redis/server"
	"lockcheck/clusters/setting"
)

// The names of the settings that are read back.
const (
	minReplicas     = "min-replicas-to-write"
	quorum          = "quorum"
	downAfter       = "down-after-milliseconds"
	failoverTimeout = "failover-timeout"
)

// replication is how primary and replicas work together. As Redis does it by default, but for the delay before the first
// synchronisation (5 s, to serve several replicas at once: nothing but waiting here) and the primary's pings (10 s).
var replication = setting.Table{
	{Name: minReplicas, Default: "0", About: "replicas in touch without which a primary refuses writes", Check: setting.Number(0, 6)},
	{Name: "min-replicas-max-lag", Default: "10", About: "seconds after which a replica is not in touch any more", Check: setting.Number(1, 3600)},
	{Name: "repl-diskless-sync-delay", Default: "0", About: "seconds before a synchronisation begins", Check: setting.Number(0, 60)},
	{Name: "repl-ping-replica-period", Default: "1", About: "seconds between the primary's pings", Check: setting.Number(1, 3600)},
	{Name: "repl-timeout", Default: "60", About: "seconds of silence after which a replication link is given up", Check: setting.Number(2, 3600)},
	{Name: "replica-serve-stale-data", Default: "yes", About: "a replica that lost its primary goes on to answer reads", Check: setting.Choice("yes", "no")},
}

// sentinelSettings are how the Sentinels judge. By default a server is down after 30 s, and a failover may take 3 minutes: times
// for which no user of leases of seconds would wait.
var sentinelSettings = setting.Table{
	{Name: quorum, Default: "", About: "Sentinels that have to find the primary down before a failover (default: a majority)", Check: setting.Number(1, maxNodes)},
	{Name: downAfter, Default: "1000", About: "milliseconds without an answer after which a Sentinel finds a server down", Check: setting.Number(100, 600_000)},
	{Name: failoverTimeout, Default: "3000", About: "milliseconds for a step of a failover; twice that between two failovers", Check: setting.Number(1000, 600_000)},
	{Name: "parallel-syncs", Default: "1", About: "replicas that follow a new primary at once", Check: setting.Number(1, maxNodes)},
}

// serverSettings are the settings of each server of a layout.
func serverSettings() setting.Table {
	return slices.Concat(server.Persistence, server.Memory, replication)
}

// resolve completes and checks what was asked for. A server alone has no Sentinel to set.
func resolve(asked map[string]string, nodes int) (map[string]string, error) {
	if nodes == 1 {
		return slices.Concat(server.Persistence, server.Memory).Resolve(asked)
	}
	all := slices.Concat(serverSettings(), sentinelSettings)
	all[slices.IndexFunc(all, func(s setting.Setting) bool { return s.Name == quorum })].Default = strconv.Itoa(nodes/2 + 1)
	values, err := all.Resolve(asked)
	if err != nil {
		return nil, err
	}
	for _, limit := range []struct {
		name string
		max  int
		of   string
	}{{quorum, nodes, "Sentinels"}, {minReplicas, nodes - 1, "replicas"}} {
		if n, _ := strconv.Atoi(values[limit.name]); n > limit.max {
			return nil, fmt.Errorf("setting %s: %d, but there are %d %s", limit.name, n, limit.max, limit.of)
		}
	}
	return values, nil
}
