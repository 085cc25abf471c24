package etcd

import "lockcheck/clusters"

// Descriptor is what pages and tests have to know.
func (Backend) Descriptor() clusters.Descriptor {
	return clusters.Descriptor{
		Product: "etcd",
		Servers: "3 members", Install: "nothing: built in",
		TTLs: "whole seconds, at least 1.5 election timeouts (1 s here)", Expires: "up to 0.5 s late",
		Guards:    "`ask`, `ask-stale`",
		Processor: 27,
		Leased:    true,
	}
}
