package s3

import "lockcheck/clusters"

// Descriptor is what pages and tests have to know.
func (Backend) Descriptor() clusters.Descriptor {
	return clusters.Descriptor{
		Product: "S3",
		Servers: "1 gateway", Install: "`scripts/servers versitygw`",
		TTLs: "whole milliseconds from 200", Expires: "by the waiter's wall clock, against the time that the holder's clock set",
		Guards:    "`ask`",
		Processor: 30,
		Leased:    true,
	}
}
