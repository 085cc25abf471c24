package server

import (
	"fmt"
	"slices"
	"strings"

	"lockcheck/clusters"
	"lockcheck/clusters/setting"
)

// Persistence is what decides how much a server forgets when it is started again. All of it is as Redis does it by
// default, which is also what most servers that only hold locks run with: no append-only file, snapshots now and then.
var Persistence = setting.Table{
	{Name: "appendonly", Default: "no", About: "write an append-only file", Check: setting.Choice("yes", "no")},
	{Name: "appendfsync", Default: "everysec", About: "when that file is synced: always, everysec, no", Check: setting.Choice("always", "everysec", "no")},
	{Name: "save", Default: "3600 1 300 100 60 10000", About: "snapshots: seconds and changes, in pairs; none: never", Check: saves},
}

// Diskless is why a fault of its disk means nothing to a server with these settings; "" if it means something.
func Diskless(values map[string]string) string {
	if values["appendonly"] == "yes" {
		return ""
	}
	return "with appendonly=no a Redis server writes a snapshot now and then and nothing else to its disk: use --" + clusters.FlagSet + "=appendonly=yes, " +
		"and --" + clusters.FlagSet + "=appendfsync=always to have each write synced before it is acknowledged"
}

// Memory is what a server does when it is full, and how often it looks after itself.
var Memory = setting.Table{
	{Name: "maxmemory", Default: "0", About: "bytes of data that a server takes; 0: no limit", Check: setting.Number(0, 1<<40)},
	{Name: "maxmemory-policy", Default: "noeviction", About: "what goes when it is full; anything but noeviction may evict a lock", Check: setting.Choice(
		"noeviction", "allkeys-lru", "allkeys-lfu", "allkeys-random", "volatile-lru", "volatile-lfu", "volatile-random", "volatile-ttl")},
	{Name: "hz", Default: "10", About: "background rounds a second, in which expired keys are removed that no client asks for", Check: setting.Number(1, 500)},
}

// noSaves is how --set says that there are no snapshots: an empty value would look like a slip.
const noSaves = "none"

func saves(value string) error {
	if value == noSaves {
		return nil
	}
	words := strings.Fields(value)
	for _, word := range words {
		if setting.Number(1, 1<<31)(word) != nil {
			words = nil
		}
	}
	if len(words) == 0 || len(words)%2 != 0 {
		return fmt.Errorf("%q is neither pairs of seconds and changes (%q) nor %s", value, "3600 1 300 100", noSaves)
	}
	return nil
}

// Lines are the settings of a table as lines of a configuration file.
func Lines(table setting.Table, values map[string]string) []string {
	var lines []string
	for _, s := range table {
		value := values[s.Name]
		if s.Name != "save" {
			lines = append(lines, s.Name+" "+value)
			continue
		}
		if value == noSaves {
			lines = append(lines, `save ""`)
			continue
		}
		for pair := range slices.Chunk(strings.Fields(value), 2) {
			lines = append(lines, "save "+strings.Join(pair, " "))
		}
	}
	return lines
}
