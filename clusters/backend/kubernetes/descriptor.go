package kubernetes

import "lockcheck/clusters"

// Descriptor is what pages and tests have to know.
func (Backend) Descriptor() clusters.Descriptor {
	return clusters.Descriptor{
		Product: "Kubernetes",
		Servers: "3 etcd members, 2 API servers", Install: "`scripts/servers kube-apiserver`; the first run compiles for minutes",
		TTLs: "whole seconds from 2", Expires: "by the waiter's monotonic clock, from when it saw the last renewal",
		Guards:    "`ask`, `ask-stale`",
		Processor: 55,
		Leased:    true,
		// client-go's release replaces the record that it finds, and does not look whose it is. That is release-by-owner where it is proven
		// (J5). Where the client woke at the very moment at which the next grant was read, it cannot be known which came first, and it is
		// early-expiry.
		FreesOthers: []string{"release-by-owner", "early-expiry", "lock-linearizability"},
	}
}
