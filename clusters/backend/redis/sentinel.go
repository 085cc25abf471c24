package redis

import (
	"context"
	"fmt"
	"net"
	"strings"

	"github.com/redis/go-redis/v9"

	"lockcheck/clusters"
	"lockcheck/clusters/backend/redis/server"
)

const (
	sentinelPort = "26379"
	sentinelLog  = "sentinel" // also its data directory: it writes what it learns into its own configuration
	masterName   = "lockcheck"
)

// watcher is one Sentinel and the harness's connection to it.
type watcher struct {
	clusters.Node
	sentinel *redis.SentinelClient
}

func (w *watcher) addr() string { return sentinelAddr(w.Node) }

func sentinelAddr(at clusters.Node) string { return net.JoinHostPort(at.Addr(), sentinelPort) }

func connectSentinel(at clusters.Node, dial clusters.Dialer) *watcher {
	return &watcher{at, redis.NewSentinelClient(server.Options(dial, sentinelAddr(at)))}
}

// launchSentinel starts a Sentinel on a server's host, where it is a process of its own.
func launchSentinel(ctx context.Context, site clusters.Site, host clusters.Host, primary string, values map[string]string) (*clusters.Server, error) {
	lines := []string{
		"sentinel announce-ip " + host.Addr(), "sentinel announce-port " + sentinelPort,
		fmt.Sprintf("sentinel monitor %s %s %s %s", masterName, primary, server.Port, values[quorum]),
	}
	for _, s := range sentinelSettings {
		if s.Name != quorum {
			lines = append(lines, fmt.Sprintf("sentinel %s %s %s", s.Name, masterName, values[s.Name]))
		}
	}
	return server.StartProcess(ctx, site, host, server.Process{
		Log: sentinelLog, File: "sentinel.conf", Port: sentinelPort, Lines: lines, Args: []string{"--sentinel"},
	})
}

// view is what one Sentinel says.
type view struct {
	primary  string // address of the primary, as clients are told
	flags    string // of the primary: "master", and what is wrong with it
	replicas map[string]string
	sentinel map[string]string // the other ones; address -> flags
	quorum   string            // empty if enough Sentinels are there for a failover, else what is missing
}

// primary asks a Sentinel what it tells clients.
func (w *watcher) primary(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, server.AskTimeout)
	defer cancel()
	addr, err := w.sentinel.GetMasterAddrByName(ctx, masterName).Result()
	if err != nil {
		return "", err
	}
	return strings.Join(addr, ":"), nil
}

// look asks a Sentinel for all it knows.
func (w *watcher) look(ctx context.Context) (view, error) {
	v := view{}
	var err error
	if v.primary, err = w.primary(ctx); err != nil {
		return v, err
	}
	ctx, cancel := context.WithTimeout(ctx, server.AskTimeout)
	defer cancel()
	master, err := w.sentinel.Master(ctx, masterName).Result()
	if err != nil {
		return v, err
	}
	v.flags = master["flags"]
	replicas, err := w.sentinel.Replicas(ctx, masterName).Result()
	if err != nil {
		return v, err
	}
	others, err := w.sentinel.Sentinels(ctx, masterName).Result()
	if err != nil {
		return v, err
	}
	v.replicas, v.sentinel = flagsByAddr(replicas), flagsByAddr(others)
	if said, err := w.sentinel.CkQuorum(ctx, masterName).Result(); err != nil {
		v.quorum = err.Error()
	} else if !strings.HasPrefix(said, "OK") {
		v.quorum = said
	}
	return v, nil
}

func flagsByAddr(of []map[string]string) map[string]string {
	all := map[string]string{}
	for _, one := range of {
		all[net.JoinHostPort(one["ip"], one["port"])] = one["flags"]
	}
	return all
}

// missing says what this view lacks of a whole cluster whose primary is at the address; empty if nothing.
func (v view) missing(primary string, servers, sentinels int) string {
	switch {
	case v.primary != primary:
		return fmt.Sprintf("it names %s as the primary, others %s", v.primary, primary)
	case v.flags != "master":
		return "it finds the primary " + v.flags
	case v.quorum != "":
		return v.quorum
	}
	for _, known := range []struct {
		flags map[string]string
		want  string
		n     int
	}{{v.replicas, "slave", servers - 1}, {v.sentinel, "sentinel", sentinels - 1}} {
		if len(known.flags) != known.n {
			return fmt.Sprintf("it knows %d of %d with the flag %q", len(known.flags), known.n, known.want)
		}
		for addr, flags := range known.flags {
			if flags != known.want {
				return fmt.Sprintf("it finds %s %s", addr, flags)
			}
		}
	}
	return ""
}
