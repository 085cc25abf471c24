package postgres

import "lockcheck/clusters"

// Descriptor is what pages and tests have to know.
func (Backend) Descriptor() clusters.Descriptor {
	return clusters.Descriptor{
		Product: "PostgreSQL",
		Servers: "a primary and its standby", Install: "`apt-get install postgresql-15`",
		TTLs: "`row-lease`: whole milliseconds from 200; the others: [below](#postgres)", Expires: "by the server's wall clock",
		Guards:    "`ask`. Their clients have no older copy to ask",
		Processor: 30,
		// A session lasts as long as its connection, which a paused client's kernel keeps.
	}
}
