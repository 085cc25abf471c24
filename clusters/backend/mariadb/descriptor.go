package mariadb

import "lockcheck/clusters"

// Descriptor is what pages and tests have to know.
func (Backend) Descriptor() clusters.Descriptor {
	return clusters.Descriptor{
		Product: "MariaDB",
		Servers: "a primary and its replica", Install: "`apt-get install mariadb-server`",
		TTLs: "`row-lease`: whole milliseconds from 200; the others have no lease", Expires: "by the server's wall clock",
		Guards:    "`ask`. Their clients have no older copy to ask",
		Processor: 30,
		// A session lasts as long as its connection, which a paused client's kernel keeps.
	}
}
