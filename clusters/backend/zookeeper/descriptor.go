package zookeeper

import "lockcheck/clusters"

// Descriptor is what pages and tests have to know.
func (Backend) Descriptor() clusters.Descriptor {
	return clusters.Descriptor{
		Product: "ZooKeeper",
		Servers: "3 servers", Install: "`apt-get install libzookeeper-java default-jre-headless`",
		TTLs: "2 to 20 ticks by its own defaults; here 400 ms (`tickTime=200`) to 60 s", Expires: "up to a tick late",
		Guards:    "both, except `go-zookeeper` and `go-zookeeper-same-session`",
		Processor: 50,
		Leased:    true,
	}
}
