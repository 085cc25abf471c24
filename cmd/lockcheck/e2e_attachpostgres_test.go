//go:build e2e

package main_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"lockcheck/checker/model"
	"lockcheck/clusters"
	"lockcheck/clusters/backend/postgres"
	"lockcheck/clusters/testkit/needs"
)

// postgresServer is a server that a test started, with TLS and passwords.
type postgresServer struct {
	endpoint, ca string
	admin        *pgxpool.Pool
}

// anotherUser lets a program run as a user other than root, who may use the files of who runs the test: PostgreSQL refuses root.
func anotherUser(cmd *exec.Cmd) *exec.Cmd {
	const unprivileged = 1000
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: unprivileged, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: unprivileged, HostID: os.Getgid(), Size: 1}},
	}
	return cmd
}

// startPostgres starts a server whose user locker may make schemas in the database shared, which another program uses.
func startPostgres(t *testing.T, password string) *postgresServer {
	t.Helper()
	found, err := postgres.Backend{}.Software().OnMachine(clusters.ServerPaths{})
	if err != nil {
		skip(t, "%v", err)
	}
	bin := filepath.Dir(found[0])
	data := filepath.Join(t.TempDir(), "data")
	if text, err := anotherUser(exec.Command(filepath.Join(bin, "initdb"), "--no-sync", "--no-instructions", "-A", "scram-sha-256", "-U", "root",
		"--pwfile="+writeFile(t, "password", "of-the-test"), "-E", "UTF8", "--locale=C", "-D", data)).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	ca, cert, key := certificates(t, "127.0.0.1")
	port := strconv.Itoa(needs.Port(t))
	s := &postgresServer{endpoint: "127.0.0.1:" + port, ca: ca}
	admission := writeFile(t, "pg_hba.conf", "hostssl shared,postgres all 127.0.0.1/32 scram-sha-256\n")
	args := []string{"-D", data}
	for name, value := range map[string]string{
		"listen_addresses": "127.0.0.1", "port": port, "unix_socket_directories": "", "fsync": "off", "dynamic_shared_memory_type": "mmap", "hba_file": admission,
		"ssl": "on", "ssl_cert_file": cert, "ssl_key_file": key, "idle_session_timeout": "0",
	} {
		args = append(args, "-c", name+"="+value)
	}
	startCommand(t, anotherUser(exec.Command(found[0], args...)))
	s.connect(t, "postgres", fmt.Sprintf("create role locker login password '%s'", password), "create database shared", "grant create on database shared to locker")
	s.connect(t, "shared", "create table application (n int primary key, value bytea not null)", "revoke all on schema public from public")
	return s
}

// connect has root make statements in a database, once the server is up.
func (s *postgresServer) connect(t *testing.T, database string, statements ...string) {
	t.Helper()
	config, err := pgxpool.ParseConfig("postgres://root@" + s.endpoint + "/" + database + "?sslmode=require")
	if err != nil {
		t.Fatal(err)
	}
	config.ConnConfig.Password = "of-the-test"
	if s.admin, err = pgxpool.NewWithConfig(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.admin.Close)
	awaitService(t, s.admin.Ping)
	for _, sql := range statements {
		if _, err := s.admin.Exec(t.Context(), sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
}

func (s *postgresServer) access(t *testing.T, password string) string {
	return writeAccess(t, password, map[string]string{"ca": s.ca, "username": "locker", "database": "shared"})
}

// rows are what a question comes to, a line each.
func (s *postgresServer) rows(t *testing.T, sql string) []string {
	t.Helper()
	rows, err := s.admin.Query(t.Context(), sql)
	if err != nil {
		t.Fatal(err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// there is all that the database has but the rows of another program's: its relations, schemas, functions, rights and advisory locks.
func (s *postgresServer) there(t *testing.T) string {
	t.Helper()
	return strings.Join(s.rows(t, `select line from (
		select concat_ws(' ', 'relation', oid, relnamespace::regnamespace, relname, relkind, relacl) line from pg_class
		union all select concat_ws(' ', 'schema', oid, nspname, nspacl) from pg_namespace where nspname !~ '^pg_(toast_)?temp_'
		union all select concat_ws(' ', 'function', oid, proname) from pg_proc
		union all select concat_ws(' ', 'advisory lock', classid, objid, objsubid, mode, granted) from pg_locks where locktype = 'advisory'
		union all select concat_ws(' ', 'database', datname, datacl) from pg_database) all_of_it order by line`), "\n")
}

// use has another program hold an advisory lock and write rows all the time.
func (s *postgresServer) use(t *testing.T) application {
	t.Helper()
	holder, err := s.admin.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = holder.Conn().Close(context.Background()); holder.Release() })
	if _, err := holder.Exec(t.Context(), "select pg_advisory_lock(7)"); err != nil {
		t.Fatal(err)
	}
	return use(t, func(n int) (line string, err error) {
		err = s.admin.QueryRow(t.Context(), "insert into application values ($1, $2) returning application::text || xmin", n, fmt.Appendf(nil, "\x00value %d\xff", n)).Scan(&line)
		return line, err
	}, func() []string { return s.rows(t, "select application::text || xmin from application order by n") })
}

// The three kinds of lock and a library, each with tables or keys of the run's own, while another program uses the database.
func TestAttachedToPostgreSQLWithTLS(t *testing.T) {
	t.Parallel()
	const secret = "planted-91d7ce03"
	server := startPostgres(t, secret)
	app := server.use(t)
	before := server.there(t)
	access := server.access(t, secret)
	for _, c := range []struct {
		client string
		fault  disturbance
	}{
		{"advisory", cutOffHarmless}, {"row-lease", cutOffHolder}, {"for-update", pauseHarmless},
		{"pglock", pauseHolder}, // its waiters look once in a lease: a cut that waits for one of them takes long to come
	} {
		o := disturbedRun(t, secret, c.fault, "--backend=postgres", "--client="+c.client, "--attach="+server.endpoint, "--attach-config="+access, "--time-limit=8s")
		endsWith(t, o, o.code, "attached to postgres at "+server.endpoint, "tables in the schema lockcheck_")
		mustPass(t, o, model.LockLinearizability)
		if after := server.there(t); after != before {
			t.Fatalf("%s: the database was\n%s\nand is\n%s", c.client, before, after)
		}
	}
	app.found(t)
}

func TestWhatPostgreSQLTurnsDown(t *testing.T) {
	t.Parallel()
	const password = "of-the-locker"
	server := startPostgres(t, password)
	server.connect(t, "shared", "create role powerless login password 'p'", "create database other")
	before := server.there(t)
	with := func(words map[string]string) string {
		all := map[string]string{"ca": server.ca, "username": "locker", "database": "shared"}
		for name, value := range words {
			all[name] = value
		}
		return writeAccess(t, password, all)
	}
	another, _, _ := certificates(t, "127.0.0.1")
	for name, c := range map[string]struct {
		endpoint, access string
		code             int
		says             []string
	}{
		"a wrong password":  {server.endpoint, server.access(t, "wrong"), 64, []string{"turns this user down", "28P01", "password_file"}},
		"no such database":  {server.endpoint, with(map[string]string{"database": "none"}), 64, []string{"turns this user down", "pg_hba.conf"}},
		"no username":       {server.endpoint, writeAccess(t, password, map[string]string{"ca": server.ca}), 64, []string{"postgres needs a username"}},
		"no right":          {server.endpoint, writeAccess(t, "p", map[string]string{"ca": server.ca, "username": "powerless", "database": "shared"}), 64, []string{"GRANT CREATE ON DATABASE"}},
		"no TLS":            {server.endpoint, writeAccess(t, password, map[string]string{"username": "locker", "database": "shared"}), 64, []string{"does it speak TLS"}},
		"another authority": {server.endpoint, with(map[string]string{"ca": another}), 69, []string{"certificate signed by unknown authority"}},
		"another service":   {startRedis(t, "x").endpoint, server.access(t, password), 69, []string{"is it PostgreSQL"}},
		"another timeout":   {server.endpoint, with(nil), 64, []string{"idle_session_timeout=0 for this user, where 5000 is expected"}},
	} {
		t.Run(name, func(t *testing.T) {
			args := []string{"run", "--seed=1", "--backend=postgres", "--attach=" + c.endpoint, "--attach-config=" + c.access}
			if name == "another timeout" {
				args = append(args, "--set=idle_session_timeout=5000")
			}
			o := atOnce(t, program, args...)
			endsWith(t, o, c.code, c.says...)
			empty(t, o)
		})
	}
	if after := server.there(t); after != before {
		t.Errorf("it was\n%s\nand is\n%s", before, after)
	}
}

func TestARunUsesNoPlaceInPostgreSQLThatIsTakenAlready(t *testing.T) {
	t.Parallel()
	const password = "of-the-locker"
	server := startPostgres(t, password)
	holder, err := server.admin.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer holder.Release()
	const schema = "lockcheck_20260102_0123abcd" // of takenPrefix
	for _, c := range []struct{ sql, says string }{
		{"select pg_advisory_lock_shared(hashtextextended('" + takenPrefix + "k1', 0))", "a held advisory lock of " + takenPrefix + "k1"},
		{"select pg_advisory_unlock_all(); create schema " + schema, "schema " + schema},
	} {
		if _, err := holder.Conn().PgConn().Exec(t.Context(), c.sql).ReadAll(); err != nil {
			t.Fatal(err)
		}
		before := server.there(t)
		o := atOnce(t, planted, "run", "--seed=1", "--backend=postgres", "--attach="+server.endpoint, "--attach-config="+server.access(t, password))
		endsWith(t, o, 69, "a run uses none that it did not make: "+c.says)
		empty(t, o)
		if after := server.there(t); after != before {
			t.Errorf("it was\n%s\nand is\n%s", before, after)
		}
	}
}

func TestCleanRemovesWhatAKilledRunLeftInPostgreSQL(t *testing.T) {
	t.Parallel()
	const password = "of-the-locker"
	server := startPostgres(t, password)
	app := server.use(t)
	before := server.there(t)
	cleanAfterKill(t, []string{"--backend=postgres", "--client=for-update"}, []string{"--attach=" + server.endpoint, "--attach-config=" + server.access(t, password)},
		"removed tables in the schema lockcheck_", func() int {
			return len(server.rows(t, "select relname::text from pg_class join pg_namespace n on n.oid = relnamespace where nspname like 'lockcheck%'"))
		})
	if after := server.there(t); after != before {
		t.Errorf("it was\n%s\nand is\n%s", before, after)
	}
	app.found(t)
}
