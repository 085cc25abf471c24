package etcd

import (
	"context"
	"flag"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"

	"go.etcd.io/etcd/server/v3/embed"

	"lockcheck/clusters"
)

const (
	clientPort = "2379"
	peerPort   = "2380"
)

// member is what a member's process is told on its command line.
type member struct {
	name, addr, data string
	peers            string // of all members: "n1=10.77.1.2,n2=10.77.1.3"
	values           values
}

// args are the arguments after "lockcheck".
func (m member) args() []string {
	return append([]string{"node", Name, "--name=" + m.name, "--addr=" + m.addr, "--peers=" + m.peers, "--data=" + m.data}, m.values.args()...)
}

func parseMember(args []string) (member, error) {
	m := member{}
	flags := flag.NewFlagSet("lockcheck node "+Name, flag.ContinueOnError)
	flags.StringVar(&m.name, "name", "", "of this member")
	flags.StringVar(&m.addr, "addr", "", "IP address of this member")
	flags.StringVar(&m.peers, "peers", "", "all members: name=address, separated by commas")
	flags.StringVar(&m.data, "data", "", "directory for its data")
	asked := map[string]*string{}
	for _, s := range settings {
		asked[s.name] = flags.String(s.name, s.usual, s.about)
	}
	if err := flags.Parse(args); err != nil {
		return m, fmt.Errorf("%w: %w", clusters.ErrUsage, err)
	}
	given := map[string]string{}
	for name, value := range asked {
		given[name] = *value
	}
	var err error
	if m.values, err = resolve(given); err != nil {
		return m, fmt.Errorf("%w: %w", clusters.ErrUsage, err)
	}
	if m.data == "" || net.ParseIP(m.addr) == nil || !slices.Contains(strings.Split(m.peers, ","), m.name+"="+m.addr) {
		return m, fmt.Errorf("%w: a member needs --data, --addr, --name and --peers with itself among them", clusters.ErrUsage)
	}
	return m, nil
}

// config is the member's configuration in etcd's words.
func (m member) config() (*embed.Config, error) {
	cfg := embed.NewConfig()
	cfg.Name, cfg.Dir = m.name, m.data
	peer, client := m.url(m.addr, peerPort), m.url(m.addr, clientPort)
	cfg.ListenPeerUrls, cfg.AdvertisePeerUrls = []url.URL{peer}, []url.URL{peer}
	cfg.ListenClientUrls, cfg.AdvertiseClientUrls = []url.URL{client}, []url.URL{client}
	var cluster []string
	for _, p := range strings.Split(m.peers, ",") {
		name, addr, ok := strings.Cut(p, "=")
		if !ok || net.ParseIP(addr) == nil {
			return nil, fmt.Errorf("%w: --peers: %q is not name=address", clusters.ErrUsage, p)
		}
		at := m.url(addr, peerPort)
		cluster = append(cluster, name+"="+at.String())
	}
	cfg.InitialCluster = strings.Join(cluster, ",")
	// Two clusters on one machine's loopback must not take each other for their own.
	cfg.InitialClusterToken = "lockcheck " + m.peers
	cfg.LogOutputs = []string{embed.StdErrLogOutput}
	return cfg, m.values.apply(cfg)
}

func (member) url(addr, port string) url.URL {
	return url.URL{Scheme: "http", Host: net.JoinHostPort(addr, port)}
}

// RunNode is one member: it serves until ctx is done or the server fails. args are those after "lockcheck node etcd".
func (Backend) RunNode(ctx context.Context, args []string) error {
	m, err := parseMember(args)
	if err != nil {
		return err
	}
	cfg, err := m.config()
	if err != nil {
		return err
	}
	server, err := embed.StartEtcd(cfg)
	if err != nil {
		return fmt.Errorf("etcd member %s on %s: %w", m.name, m.addr, err)
	}
	defer server.Close()
	select {
	case <-ctx.Done():
		return nil
	case err = <-server.Err():
	case <-server.Server.StopNotify():
		err = fmt.Errorf("it stopped by itself")
	}
	return fmt.Errorf("etcd member %s on %s: %w", m.name, m.addr, err)
}
