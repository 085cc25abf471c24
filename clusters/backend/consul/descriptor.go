package consul

import "lockcheck/clusters"

// Descriptor is what pages and tests have to know.
func (Backend) Descriptor() clusters.Descriptor {
	return clusters.Descriptor{
		Product: "Consul",
		Servers: "3 servers", Install: "`scripts/servers consul`",
		TTLs: "whole milliseconds from 1 s (`session_ttl_min=1s`; Consul's own: 10 s)", Expires: "up to another TTL late, by design",
		Guards:    "`ask`, `ask-stale`",
		Processor: 25,
		// A session that was lost ends, and for 15 s after that the lock is granted to no client. A pause that meets a client which has just
		// asked to release its lock costs such a delay, too, and the next pause of a holder comes after that.
		UnderPauses: "36s",
	}
}
