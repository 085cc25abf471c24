package s3

import "lockcheck/clusters"

// lockClients is the table of lock clients that come with this backend; the first is the default.
var lockClients = []clusters.LockClient{
	{
		Name: lease.name,
		About: "an object with an owner, the end of its lease by the owner's clock and a generation, which is the token; written by PUT with If-None-Match or If-Match; " +
			"released by a PUT of an expired record",
		New: lease.factory,
	},
	{
		Name:  leaseDelete.name,
		About: "lease released by DELETE with If-Match, after which generations begin anew",
		New:   leaseDelete.factory, NoTokens: leaseDelete.why,
	},
	{
		Name:  etagToken.name,
		About: "careless: lease with the object's ETag for a token, which is a sum of the content and does not grow",
		New:   etagToken.factory,
	},
}

// Clients are the lock clients for S3.
func (Backend) Clients() []clusters.LockClient { return lockClients }
