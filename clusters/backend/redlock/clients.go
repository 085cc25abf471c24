package redlock

import "lockcheck/clusters"

// lockClients is the table of lock clients that come with this backend; the first is the default.
var lockClients = []clusters.LockClient{
	{
		Name:  "redlock",
		About: "the algorithm as Redis's documentation gives it: majority, validity less drift, release on all, retry after a random time; extended at TTL/3",
		New:   documented.factory, NoTokens: noTokens,
	},
	{
		Name:  "unchecked",
		About: "redlock without its last step: waits up to four TTLs for answers, and takes the lock even if its validity is over by then; never extended",
		New:   unchecked.factory, NoTokens: noTokens,
	},
	{
		Name:  "late-checked",
		About: "unchecked with that step: waits as long, and does not take a lock whose validity is over; never extended",
		New:   lateChecked.factory, NoTokens: noTokens,
	},
	{
		Name:  "redsync",
		About: "github.com/go-redsync/redsync/v4 with its default options, extended by its user at TTL/3, who looks at Until, too",
		New:   careful.factory, NoTokens: noTokens,
	},
	{
		Name:  "redsync-extend",
		About: "the same by a user who believes in the lock until Extend fails, not until its validity ends",
		New:   byExtend.factory, NoTokens: noTokens,
	},
	{
		Name:  "redsync-setnx-extend",
		About: "redsync-extend with WithSetNXOnExtend: an extension recreates a missing record",
		New:   setNXOnExtend.factory, NoTokens: noTokens,
	},
}

// Clients are the lock clients for Redlock.
func (Backend) Clients() []clusters.LockClient { return lockClients }

const noTokens = "Redlock's records hold their owner's random value and no number that grows with each grant, so there is nothing for a resource to compare"
