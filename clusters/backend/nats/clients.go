package nats

import "lockcheck/clusters"

// lockClients is the table of lock clients that come with this backend; the first is the default.
var lockClients = []clusters.LockClient{
	{
		Name:  kv.name,
		About: "a key of a bucket, made with a TTL and renewed at a third of it by a publish with the expected revision and the TTL; waits by a watch; tokens are revisions",
		New:   kv.factory,
	},
	{
		Name:  kvUpdate.name,
		About: "careless: renewed by the library's own Update, which has no TTL and removes the key's: the lock of a holder that dies stays for ever",
		New:   kvUpdate.factory,
	},
	{
		Name:  kvCreatePoll.name,
		About: "kv without a watch: it asks again every 25 to 75 ms",
		New:   kvCreatePoll.factory,
	},
}

// Clients are the lock clients for NATS.
func (Backend) Clients() []clusters.LockClient { return lockClients }
