package nats

import "lockcheck/clusters"

// Descriptor is what pages and tests have to know.
func (Backend) Descriptor() clusters.Descriptor {
	return clusters.Descriptor{
		Product: "NATS",
		Servers: "3 servers", Install: "`scripts/servers nats-server`",
		TTLs: "whole seconds", Expires: "by the servers' wall clock, on a busy machine up to 2 s late",
		Guards:    "`ask`, `ask-stale`",
		Processor: 25,
		Leased:    true,
	}
}
