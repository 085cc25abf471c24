package consul

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"

	"lockcheck/clusters"
)

const (
	httpPort = "8500"
	logName  = "consul" // consul.log, and the name of the data directory

	maxConnections = 10_000
)

// nodeID is that of a server, by its place among the others. One that Consul draws is kept with the data: a server that lost
// its data would be another to the others, which give it a vote after 10 to 20 s, and a second one that loses its data in
// that time takes the quorum with it for good.
func nodeID(place int) string { return fmt.Sprintf("10c4c8ec-0000-4000-8000-%012d", place+1) }

// command starts a server that finds the others by itself. Everything it listens on is its own host's address; what a lock
// service does not need (DNS, the other datacenters' gossip, the web pages, the question whether there is a newer Consul) is
// off.
func command(server clusters.Command, self clusters.Host, all []clusters.Host, values map[string]string) (clusters.Command, error) {
	dir, err := self.DataDir(logName)
	if err != nil {
		return server, err
	}
	var others []string
	for _, host := range all {
		if host != self {
			others = append(others, host.Addr())
		}
	}
	told, err := json.MarshalIndent(map[string]any{
		"server": true, "node_name": self.Name(), "node_id": nodeID(slices.Index(all, self)), "bootstrap_expect": len(all), "data_dir": path.Join(dir, "data"),
		"bind_addr": self.Addr(), "client_addr": self.Addr(), "retry_join": others, "retry_interval": "500ms",
		"ports": map[string]int{"dns": -1, "serf_wan": -1}, "disable_update_check": true,
		logLevel: values[logLevel], sessionTTLMin: values[sessionTTLMin],
		"performance": map[string]int64{raftMultiplier: number(values[raftMultiplier])},
		// Where hosts share one network all clients have one address. Consul's own limit is 200.
		"limits":    map[string]int{"http_max_conns_per_client": maxConnections},
		"autopilot": map[string]bool{cleanupDead: values[cleanupDead] == "true"},
	}, "", "  ")
	if err != nil {
		return server, err
	}
	file := path.Join(dir, "agent.json")
	server.Args = append(slices.Clone(server.Args), "agent", "-config-file="+file)
	server.Log, server.Data = logName, logName
	server.Files = map[string][]byte{file: told}
	return server, nil
}
