package redis

import "lockcheck/clusters"

// Descriptor is what pages and tests have to know.
func (Backend) Descriptor() clusters.Descriptor {
	return clusters.Descriptor{
		Product: "Redis",
		Servers: "a primary, 2 replicas, 3 Sentinels", Install: "`apt-get install redis-server`",
		TTLs: "whole milliseconds from 200", Expires: "by the server's wall clock",
		Guards:    "`ask`; `ask-stale` only with replicas",
		Processor: 17,
		Leased:    true,
	}
}
