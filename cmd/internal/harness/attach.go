package harness

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"lockcheck/checker/history"
	"lockcheck/clusters"
	"lockcheck/clusters/client"
	"lockcheck/workloads/run"
)

// DefaultMaxRate is how many acquires a second a service that others run is asked for, unless the user says.
const DefaultMaxRate = 20

// maxEndpoints bounds how many places of a service a run connects to.
const maxEndpoints = 20

// endpoints is the rule for the places of a service that others run.
var endpoints = Rule{
	Check: func(name, value string) error {
		_, err := splitEndpoints(value)
		if err != nil {
			return fmt.Errorf("%s=%s: %w", name, value, err)
		}
		return nil
	},
	Schema: map[string]any{"type": "string", "pattern": "^[^,]+:[0-9]+(,[^,]+:[0-9]+)*$"},
}

// splitEndpoints takes host:port,host:port apart.
func splitEndpoints(text string) (all []string, err error) {
	for place := range strings.SplitSeq(text, ",") {
		place = strings.TrimSpace(place)
		host, port, err := net.SplitHostPort(place)
		n, wrong := strconv.Atoi(port)
		switch {
		case err != nil || host == "":
			return nil, fmt.Errorf("%q is not host:port, such as etcd-1.example:2379; several are joined by commas", place)
		case wrong != nil || n < 1 || n > 65535:
			return nil, fmt.Errorf("%q: %q is no port", place, port)
		case strings.Contains(host, ":"):
			return nil, fmt.Errorf("%q: the network of a run has IPv4 addresses only", place)
		case isUnspecified(host):
			return nil, fmt.Errorf("%q is where servers listen, not where one connects to: name an address of the service, such as 127.0.0.1:%s", place, port)
		case slices.Contains(all, place):
			return nil, fmt.Errorf("%q stands there twice", place)
		}
		all = append(all, place)
	}
	if len(all) > maxEndpoints {
		return nil, fmt.Errorf("there are %d places, and at most %d can be", len(all), maxEndpoints)
	}
	return all, nil
}

// isUnspecified reports whether a host is the address that stands for all of a machine's own.
func isUnspecified(host string) bool {
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.IsUnspecified()
}

// Software is what has to be there for such a run: no server, if others run it.
func (o *Options) Software(backend clusters.Backend) clusters.Software {
	if o.Attach != "" {
		return backend.Software().WithoutServers()
	}
	return backend.Software()
}

// layout is that of the servers, those that others run included.
func (o *Options) layout(backend clusters.Backend) (clusters.Layout, error) {
	asked := clusters.Options{Nodes: o.Nodes, TTL: o.TTL, Settings: o.Set}
	if o.Attach == "" {
		return backend.Layout(asked)
	}
	able, ok := backend.(clusters.Attachable)
	if !ok {
		return clusters.Layout{}, Usage(fmt.Errorf("--%s: lockcheck cannot attach to %s; it can to %s", clusters.FlagAttach, backend.Name(), strings.Join(attachable(), ", ")))
	}
	places, err := splitEndpoints(o.Attach)
	if err != nil {
		return clusters.Layout{}, Usage(err)
	}
	return clusters.AttachLayout(able, len(places), asked)
}

// settings are those of the servers for the plan. Of those that others chose only what the user expects of them is known.
func (o *Options) settings(layout clusters.Layout) map[string]string {
	if o.Attach != "" {
		return o.Set
	}
	return layout.Settings
}

// attachable are the backends that can be attached to.
func attachable() (names []string) {
	for _, b := range Backends {
		if _, ok := b.(clusters.Attachable); ok {
			names = append(names, b.Name())
		}
	}
	return names
}

// attach is the service that others run, as the options name it; nil if lockcheck starts one.
func (o *Options) attach(backend clusters.Backend) (*run.Attach, error) {
	if o.Attach == "" {
		return nil, nil
	}
	places, err := splitEndpoints(o.Attach)
	if err != nil {
		return nil, Usage(err)
	}
	access, err := readAccess(o.AttachConfig, os.Getenv, func(access client.Access) (client.Access, error) {
		return backend.(clusters.Attachable).Credentials().Fit(backend.Name(), len(places), access)
	})
	if err != nil {
		return nil, Usage(err)
	}
	return &run.Attach{
		Endpoints: places, Access: access, Prefix: plantPrefix(prefixOf(time.Now())), MaxRate: cmp.Or(o.MaxRate, DefaultMaxRate),
		CleanCommand: o.cleanCommand(),
	}, nil
}

// prefixOf is one that no other run has, on whatever machine. The day is for those who look at the service.
func prefixOf(now time.Time) string {
	var word [4]byte
	_, _ = rand.Read(word[:]) // never fails
	return now.UTC().Format("20060102") + "-" + hex.EncodeToString(word[:]) + "/"
}

// cleanCommand removes what a run left at the service.
func (o *Options) cleanCommand() []string {
	command := []string{"lockcheck", "clean", "--" + clusters.FlagAttach + "=" + o.Attach}
	if o.AttachConfig != "" {
		command = append(command, "--"+clusters.FlagAttachConfig+"="+o.AttachConfig)
	}
	return append(command, "--out="+o.Out)
}

// asked is how a plan tells of the service, before it was connected to.
func asked(a *run.Attach) *history.Attached {
	if a == nil {
		return nil
	}
	told := &history.Attached{Prefix: a.Prefix, MaxRate: a.MaxRate}
	for i, name := range clusters.NodeNames(len(a.Endpoints)) {
		told.Endpoints = append(told.Endpoints, history.AttachedEndpoint{Node: name, Asked: a.Endpoints[i]})
	}
	return told
}
