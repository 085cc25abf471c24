package server

import (
	"context"
	"net"
	"slices"
	"strings"

	"go.etcd.io/etcd/server/v3/etcdmain"
	"go.etcd.io/etcd/server/v3/storage/wal"

	"lockcheck/clusters"
)

const (
	// ClientPort is where a member answers clients.
	ClientPort = "2379"
	peerPort   = "2380"
)

// member is what a member's process is told on its command line.
type member struct {
	name, addr, data string
	peers            []peer // all members that it is to begin with, itself among them
	joins            bool   // a cluster that is there already
	values           values
}

// peer is a member as the others know it.
type peer struct{ name, addr string }

func (p peer) url() string { return "http://" + net.JoinHostPort(p.addr, peerPort) }

// complete adds the member's flags to what starts a server.
func (m member) complete(server clusters.Command) clusters.Command {
	server.Args = append(slices.Clone(server.Args), m.flags()...)
	return server
}

// flags are those of the etcd program.
func (m member) flags() []string {
	var cluster, addrs []string
	for _, p := range m.peers {
		cluster = append(cluster, p.name+"="+p.url())
		addrs = append(addrs, p.addr)
	}
	state := "new"
	if m.joins {
		state = "existing"
	}
	peer, client := peer{m.name, m.addr}.url(), "http://"+net.JoinHostPort(m.addr, ClientPort)
	return append([]string{
		"--name=" + m.name, "--data-dir=" + m.data,
		"--listen-peer-urls=" + peer, "--initial-advertise-peer-urls=" + peer,
		"--listen-client-urls=" + client, "--advertise-client-urls=" + client,
		"--initial-cluster=" + strings.Join(cluster, ","), "--initial-cluster-state=" + state,
		// Two clusters on one machine's loopback must not take each other for their own.
		"--initial-cluster-token=lockcheck-" + strings.Join(addrs, "-"),
	}, m.values.flags()...)
}

// segmentBytes is the size of a segment of the write-ahead log, for which etcd has no flag. Segments are allocated ahead,
// two for a member; etcd's 64 MB would take 400 MB of memory for three idle ones where a run's data is on a tmpfs.
const segmentBytes = 8_000_000

// RunNode is one member: etcd's own program, as the image has it, with args as its flags. It ends the process when the
// member ends; ctx has no say, the program listens to signals itself.
func (Members) RunNode(_ context.Context, args []string) error {
	wal.SegmentSizeBytes = segmentBytes
	etcdmain.Main(append([]string{"etcd"}, args...))
	return nil
}
