package redis

import "lockcheck/clusters"

// lockClients is the table of lock clients that come with this backend; the first is the default. They differ in a few
// steps each: see recipes.
var lockClients = []clusters.LockClient{
	{
		Name:  "setnx",
		About: "SET NX PX with a random value; compare-and-delete and compare-and-extend in Lua; renewed at TTL/3; follows the Sentinels",
		New:   setnx.factory, NoTokens: setnx.reason,
	},
	{
		Name:  "setnx-incr",
		About: "setnx with a counter, raised in the same script, as token; a failover can turn it back",
		New:   setnxIncr.factory,
	},
	{
		Name:  "get-del",
		About: "setnx released the naive way: GET, compare in the client, DEL",
		New:   getDel.factory, NoTokens: getDel.reason,
	},
	{
		Name:  "setnx-expire",
		About: "setnx in two requests, as was usual before Redis 2.6.12: SETNX, then a script that compares the value and sets the expiry",
		New:   setnxExpire.factory, NoTokens: setnxExpire.reason,
	},
	{
		Name:  "setnx-norenew",
		About: "setnx that is never renewed: it declares the lock valid for one TTL, and reports nothing when that has expired",
		New:   setnxNoRenew.factory, NoTokens: setnxNoRenew.reason,
	},
}

// Clients are the lock clients for Redis.
func (Backend) Clients() []clusters.LockClient { return lockClients }
