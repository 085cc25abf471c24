package nats

import (
	"encoding/json"
	"net"
	"path"
	"slices"

	"lockcheck/clusters"
)

const (
	clientPort  = "4222"
	clusterPort = "6222"
	httpPort    = "8222"
	logName     = "nats" // nats.log, and the name of the data directory
)

// command starts a server that finds the others by itself. Its configuration is JSON, which the server takes.
func command(server clusters.Command, self clusters.Host, all []clusters.Host, values map[string]string) (clusters.Command, error) {
	dir, err := self.DataDir(logName)
	if err != nil {
		return server, err
	}
	told := map[string]any{
		"server_name": self.Name(), "listen": net.JoinHostPort(self.Addr(), clientPort), "http": net.JoinHostPort(self.Addr(), httpPort),
		"jetstream": map[string]any{
			"store_dir": path.Join(dir, "data"), syncInterval: values[syncInterval],
			"max_file_store": 1 << 30, "max_memory_store": 64 << 20, // else it looks how much the machine has, and takes most of it
		},
	}
	if len(all) > 1 {
		var routes []string
		for _, host := range all {
			routes = append(routes, "nats://"+net.JoinHostPort(host.Addr(), clusterPort))
		}
		told["cluster"] = map[string]any{"name": "lockcheck", "listen": net.JoinHostPort(self.Addr(), clusterPort), "routes": routes}
	}
	text, err := json.MarshalIndent(told, "", "  ")
	if err != nil {
		return server, err
	}
	file := path.Join(dir, "server.conf")
	server.Args = append(slices.Clone(server.Args), "-c", file)
	server.Log, server.Data = logName, logName
	server.Files = map[string][]byte{file: text}
	return server, nil
}
