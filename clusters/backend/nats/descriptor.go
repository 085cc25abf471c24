package nats

import "lockcheck/clusters"

// Descriptor is what pages and tests have to know.
func (Backend) Descriptor() clusters.Descriptor {
	return clusters.Descriptor{
		Product: "NATS",
		Servers: "3 servers", Install: "`scripts/servers nats-server`",
		TTLs: "whole seconds", Expires: "up to 2 s late on a busy machine",
		Guards:    "`ask`, `ask-stale`",
		Processor: 25,
		Leased:    true,
	}
}
