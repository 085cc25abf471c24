package zookeeper

import "lockcheck/clusters"

// lockClients is the table of lock clients that come with this backend; the first is the default.
var lockClients = []clusters.LockClient{
	{
		Name:  "recipe",
		About: "ZooKeeper's lock recipe on go-zookeeper/zk: ephemeral sequential nodes, each watches its predecessor; tokens are czxids",
		New:   Recipe,
	},
	{
		Name:  "election",
		About: "ZooKeeper's leader election: the same recipe on an election path; the leader's epoch is its node's czxid",
		New:   Election,
	},
	{
		Name:  "go-zookeeper",
		About: "zk.Lock of go-zookeeper/zk as it is shipped; tokens are the czxids of its nodes",
		New:   Library,
	},
	{
		Name:  "go-zookeeper-same-session",
		About: "the same in a careless program: after an error of Lock it goes on with its session, in which the library has left its node",
		New:   LibrarySameSession,
	},
}

// Clients are the lock clients for ZooKeeper.
func (Backend) Clients() []clusters.LockClient { return lockClients }
