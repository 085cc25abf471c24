package postgres

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"net"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"lockcheck/clusters"
	"lockcheck/clusters/setting"
)

// pooler is the setting that puts pgbouncer before the primary: clients connect to it, and to nothing else.
const (
	pooler      = "pooler"
	noPooler    = "none"
	perSession  = "session"
	transaction = "transaction"
)

const (
	poolerProgram = "pgbouncer" // also names its data and its log
	poolerPort    = "6432"
	poolerInstall = "RUNLEVEL=1 apt-get install pgbouncer, which then starts no service"
	debiansPooler = "/usr/sbin/pgbouncer"
)

// poolerSettings are about the pooler, not lines of the server's configuration.
var poolerSettings = setting.Table{
	{Name: pooler, Default: noPooler, About: "pgbouncer between the clients and one server: session: a client has a server connection for as long as it is connected; " +
		"transaction: for one transaction", Check: setting.Choice(noPooler, perSession, transaction)},
}

// pooled reports whether clients go through a pooler. What was asked for need not have the setting.
func pooled(values map[string]string) bool { return cmp.Or(values[pooler], noPooler) != noPooler }

// checkPooler refuses what no run could mean.
func checkPooler(values map[string]string, nodes int) error {
	switch {
	case !pooled(values):
		return nil
	case nodes != 1:
		return fmt.Errorf("setting %s: pgbouncer is told of one server and follows no failover: use --%s=1, or %s=%s", pooler, clusters.FlagNodes, pooler, noPooler)
	case values[pooler] == transaction && values[idleSession] != "0":
		return fmt.Errorf("setting %s: with %s=%s the server counts the silence of the pooler's connections, and no client knows which one has its lock: use 0",
			idleSession, pooler, transaction)
	}
	return nil
}

// saidPooler finds its version in "PgBouncer 1.18.0".
var saidPooler = regexp.MustCompile(`PgBouncer (\d+\.\d+\.\d+)`)

// poolerSoftware is that of the pooler.
func poolerSoftware() clusters.Software {
	return clusters.Software{
		Backend:   poolerProgram,
		OnMachine: poolerOnMachine,
		Version: func(ctx context.Context, found []string) (string, error) {
			return clusters.VersionOf(ctx, saidPooler, found[0], "--version")
		},
	}
}

// poolerOnMachine finds it where Debian has it, too, which is not on the PATH of every user. --server-bin is about the server.
func poolerOnMachine(clusters.ServerPaths) ([]string, error) {
	for _, name := range []string{poolerProgram, debiansPooler} {
		if found, err := exec.LookPath(name); err == nil {
			found, err = filepath.Abs(found)
			return []string{found}, err
		}
	}
	return nil, fmt.Errorf("%w: %s is not on PATH, nor is there %s: install it (%s), or use %s", clusters.ErrUnavailable, poolerProgram, debiansPooler,
		poolerInstall, clusters.ChooseDocker)
}

//go:embed pooler.sh
var poolerScript []byte

// poolerFor is the pooler where a server was found: in the same image, or on the same machine. A run that has none looks for none.
func poolerFor(server clusters.Command, values map[string]string) (clusters.Command, error) {
	found, program := server, poolerProgram
	if pooled(values) && !server.InImage {
		words, err := poolerOnMachine(clusters.ServerPaths{})
		if err != nil {
			return found, fmt.Errorf("setting %s: %w", pooler, err)
		}
		program = words[0]
	}
	found.Program, found.Args = "sh", []string{program}
	return found, nil
}

// startPooler starts the pooler before a server. It may have as many of the server's connections as that gives away, but for the
// harness's: a client that waits for a lock keeps one. After a server that refused it asks again soon: its own 15 s are made for
// servers that are down for long.
func startPooler(ctx context.Context, host clusters.Host, found clusters.Command, server string, values map[string]string) (*clusters.Server, error) {
	dir, err := host.DataDir(poolerProgram)
	if err != nil {
		return nil, err
	}
	most, _ := strconv.Atoi(values[maxConnections])
	lines := []string{
		"[databases]", fmt.Sprintf("%s = host=%s port=%s user=%s", database, server, port, user),
		"[pgbouncer]", "listen_addr = " + host.Addr(), "listen_port = " + poolerPort, "unix_socket_dir =", "auth_type = any",
		"admin_users = " + user, "pool_mode = " + values[pooler], fmt.Sprintf("default_pool_size = %d", most-kept), "max_client_conn = 1000",
		"server_login_retry = 1", "ignore_startup_parameters = extra_float_digits",
	}
	script := path.Join(dir, "pooler.sh")
	found.Args, found.Log, found.Data, found.OtherUser = append([]string{script, dir}, found.Args...), poolerProgram, poolerProgram, true
	found.Files = map[string][]byte{script: poolerScript, path.Join(dir, "pgbouncer.ini"): []byte(strings.Join(lines, "\n") + "\n")}
	return clusters.StartServer(ctx, host, found)
}

// kept is how many of the server's connections the pooler leaves: those that a server keeps for its superuser, and the harness's.
const kept = 5

// poolerNode is the pooler as the harness asks it: as a server through which each question goes.
func poolerNode(at clusters.Node, dial clusters.Dialer) *node {
	return &node{at, dial, net.JoinHostPort(at.Addr(), poolerPort)}
}

// poolerVersion asks the pooler's own console, which speaks no protocol but the simple one. It says "PgBouncer 1.18.0".
func poolerVersion(ctx context.Context, n *node) (said string, err error) {
	err = n.askIn(ctx, poolerProgram, func(ctx context.Context, conn *pgx.Conn) error {
		return conn.QueryRow(ctx, "show version", pgx.QueryExecModeSimpleProtocol).Scan(&said)
	})
	return strings.TrimPrefix(said, "PgBouncer "), err
}
