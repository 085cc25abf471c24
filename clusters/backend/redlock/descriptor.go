package redlock

import "lockcheck/clusters"

// Descriptor is what pages and tests have to know.
func (Backend) Descriptor() clusters.Descriptor {
	return clusters.Descriptor{
		Product: "Redlock",
		Servers: "5 independent Redis servers", Install: "`apt-get install redis-server`",
		TTLs: "whole milliseconds from 200", Expires: "by the server's wall clock",
		Guards:    "`ask`. Their clients have no older copy to ask",
		Processor: 20,
		Leased:    true,
	}
}
