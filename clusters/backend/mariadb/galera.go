package mariadb

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"

	"lockcheck/clusters"
	"lockcheck/clusters/setting"
)

// kind is the setting that makes a Galera cluster of the servers: each takes writes, and has its own locks of sessions and rows.
const (
	kind    = "cluster"
	replica = "replica"
	galera  = "galera"

	suspectTimeout = "evs.suspect_timeout"
)

var galeraSettings = setting.Table{
	{Name: kind, Default: replica, About: "replica: a primary and its replica; galera: servers that all take writes, and agree on what is committed", Check: setting.Choice(replica, galera)},
	{Name: suspectTimeout, Default: "1", About: "of a Galera cluster: s of silence after which the others go on without a node; until then none commits; Galera's own: 5", Check: setting.Number(1, 3600)},
}

var galeraNodes = clusters.OddNumber{Of: "nodes of a Galera cluster", Default: 3, Min: 3, Max: 7}

// isGalera reports whether the servers are such a cluster. What was asked for need not have the setting.
func isGalera(values map[string]string) bool { return values[kind] == galera }

// library is Galera's, where the packages of Debian and of MariaDB have it.
const library = "/usr/lib/galera/libgalera_smm.so"

var libraries = []string{library, "/usr/lib64/galera-4/libgalera_smm.so", "/usr/lib64/galera/libgalera_smm.so"}

// galeraOnMachine finds the library, and socat, by which nodes speak when one comes back. --server-bin is about the server.
func galeraOnMachine(clusters.ServerPaths) ([]string, error) {
	i := slices.IndexFunc(libraries, func(at string) bool { _, err := os.Stat(at); return err == nil })
	if _, err := exec.LookPath("socat"); i < 0 || err != nil {
		return nil, fmt.Errorf("%w: Galera's library (%s) or socat is missing: install them (apt-get install galera-4 socat), or use %s", clusters.ErrUnavailable,
			strings.Join(libraries, ", "), clusters.ChooseDocker)
	}
	return libraries[i : i+1], nil
}

const transfer = "wsrep_sst_lockcheck" // as the server calls the method "lockcheck"

//go:embed transfer.sh
var transferScript []byte

// launchGalera starts the servers, which wait for each other.
func launchGalera(ctx context.Context, site clusters.Site, layout clusters.Layout) ([]clusters.Node, error) {
	servers, err := clusters.StartAll(ctx, site, layout, func(found clusters.Command, self clusters.Host, all []clusters.Host, values map[string]string) (clusters.Command, error) {
		at := library
		if !found.InImage {
			words, err := galeraOnMachine(clusters.ServerPaths{})
			if err != nil {
				return found, fmt.Errorf("setting %s: %w", kind, err)
			}
			at = words[0]
		}
		return command(found, self, values, func(string) part { return member(at, self, all, values) })
	})
	return clusters.Each(servers, func(s *clusters.Server) clusters.Node { return s }), err
}

// member is the part of a server among equals. One that comes back asks another for what it missed, which keeps 32 MB of that in a file. It
// waits for the others as long as that takes.
func member(library string, self clusters.Host, all []clusters.Host, values map[string]string) part {
	options := []string{
		"gmcast.listen_addr=tcp://" + self.Addr() + ":4567", "ist.recv_addr=" + self.Addr() + ":4568", "gcache.size=32M", "gcache.recover=yes", "pc.wait_prim_timeout=PT1H",
		suspectTimeout + "=PT" + values[suspectTimeout] + "S", "evs.keepalive_period=PT0.25S", "evs.inactive_check_period=PT0.1S",
	}
	number := slices.IndexFunc(all, func(h clusters.Host) bool { return h.Name() == self.Name() }) + 1
	return part{
		role: []string{galera, strconv.Itoa(number), strconv.Itoa(len(all)), strings.Join(slices.Delete(clusters.Each(all, clusters.Host.Addr), number-1, number), ",")},
		lines: []string{
			"binlog_format = ROW", "innodb_autoinc_lock_mode = 2", "wsrep_on = ON", "wsrep_provider = " + library,
			"wsrep_cluster_name = lockcheck", "wsrep_cluster_address = gcomm://" + strings.Join(clusters.Each(all, clusters.Host.Addr), ","),
			"wsrep_node_name = " + self.Name(), "wsrep_node_address = " + self.Addr(), "wsrep_sst_method = lockcheck",
			`wsrep_provider_options = "` + strings.Join(options, "; ") + `"`,
		},
		files: map[string][]byte{transfer: transferScript},
	}
}

// group is a Galera cluster. None of its nodes leads.
type group struct{ *single }

var (
	_ clusters.Cluster       = (*group)(nil)
	_ clusters.Standing      = (*group)(nil)
	_ clusters.ClientOptions = (*group)(nil)
)

// Standing says that no server leads.
func (g *group) Standing(context.Context) (string, error) {
	return fmt.Sprintf("a Galera cluster of %d, all of which take writes", len(g.nodes)), nil
}

// statusNamed is a line of what a server says of the cluster.
const statusNamed = "select variable_value from information_schema.global_status where variable_name = ?"

// Versions are those of the servers, and of Galera: "4.23" of "4.23(r5a1b2c3)".
func (g *group) Versions(ctx context.Context) (map[string]string, error) {
	all, err := g.single.Versions(ctx)
	if err != nil {
		return nil, err
	}
	all[galera], err = clusters.OneVersion(ctx, called, g.nodes, func(ctx context.Context, n *node) (string, error) {
		said, err := value[string](ctx, n, statusNamed, "wsrep_provider_version")
		number, _, _ := strings.Cut(said, "(")
		return number, err
	})
	return all, err
}

// Probe makes a write at whichever node takes it.
func (g *group) Probe(ctx context.Context) error {
	return clusters.WriteToAny(ctx, probeTimeout, askTimeout, called, g.nodes, func(ctx context.Context, n *node) error {
		_, err := n.Write(ctx)
		return err
	})
}

// Ready returns once every node is a member that has all there is, and a write to one was read from all.
func (g *group) Ready(ctx context.Context) error {
	return g.settled(ctx, func(ctx context.Context) error {
		for _, a := range clusters.AskAll(ctx, g.nodes, membership) {
			switch want := fmt.Sprintf("%d,Primary,Synced,ON", len(g.nodes)); {
			case a.Err != nil:
				return fmt.Errorf("%s %s does not answer: %w", called, a.Node.Name(), a.Err)
			case a.Value != want:
				return fmt.Errorf("%s %s is %s in its cluster, where %s is awaited", called, a.Node.Name(), a.Value, want)
			}
		}
		return g.verify(ctx, g.nodes[0])
	})
}

// membership is how many nodes the server knows, whether they are the majority, what it does, and whether it takes requests.
func membership(ctx context.Context, n *node) (string, error) {
	return value[string](ctx, n, `select group_concat(variable_value order by variable_name) from information_schema.global_status
		where variable_name in ('wsrep_cluster_size', 'wsrep_cluster_status', 'wsrep_local_state_comment', 'wsrep_ready')`)
}

// checkGroup is an error unless the servers that others run are nodes of one Galera cluster: two would each grant a lock by lease.
func (c *attached) checkGroup(ctx context.Context) error {
	ids := clusters.AskAll(ctx, c.servers, func(ctx context.Context, s *attachedServer) (string, error) {
		return at[string](ctx, s, "select coalesce(max(variable_value), '') from information_schema.global_status where variable_name = 'wsrep_cluster_state_uuid'")
	})
	for _, a := range ids {
		switch {
		case a.Err != nil:
			return a.Node.Unusable(a.Err)
		case a.Value == "":
			return fmt.Errorf("%w: MariaDB at %s is in no Galera cluster: leave out --%s=%s=%s", clusters.ErrUsage, a.Node.Place(), clusters.FlagSet, kind, galera)
		case a.Value != ids[0].Value:
			return fmt.Errorf("%w: MariaDB at %s and at %s are in two Galera clusters: name servers of one", clusters.ErrUsage, ids[0].Node.Place(), a.Node.Place())
		}
	}
	return nil
}
