// Package firewall drops packets, or hands them to queues, of the network namespace that the calling thread is in: by peer, one way or both, all
// or a share at random. What it makes are nftables tables of its own, which belong to the socket that made them: the
// kernel removes them when that is closed, also when the process is killed. Rules of others are neither read nor touched.
package firewall

// Link is one peer and the packets from it (In) and to it (Out) that are to be dropped.
type Link struct {
	Peer  string  `json:"peer"` // an IPv4 address
	In    bool    `json:"in"`
	Out   bool    `json:"out"`
	Share float64 `json:"share"` // of the packets: above 0, 1 for all
}

// Queues are where Queue hands packets over to: numbers of queues for those that come in and that go out, and the bits of a
// packet's mark that say that it has been there.
type Queues struct {
	In, Out uint16
	Mark    uint32
}
