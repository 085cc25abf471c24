package nats

import (
	"fmt"
	"time"

	"lockcheck/clusters/setting"
)

// The names of the settings that are read back.
const (
	syncInterval = "sync_interval"
	replicas     = "replicas"
)

// everyServer is the number of replicas that the layout replaces by that of the servers.
const everyServer = "all"

var settings = setting.Table{
	{Name: syncInterval, Default: "2m", About: "how often a server syncs what it wrote; always: before it answers", Check: interval},
	{Name: replicas, Default: everyServer, About: "servers that keep the bucket: 1, 3, 5, or all", Check: setting.Choice("1", "3", "5", everyServer)},
}

// interval checks for a sync_interval as the servers read it.
func interval(value string) error {
	const from, to = time.Second, time.Hour
	if d, err := time.ParseDuration(value); value != "always" && (err != nil || d < from || d > to) {
		return fmt.Errorf("%q is neither \"always\" nor a time from %v to %v, such as 10s", value, from, to)
	}
	return nil
}
