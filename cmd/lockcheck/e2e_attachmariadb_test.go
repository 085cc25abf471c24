//go:build e2e

package main_test

import (
	"context"
	"database/sql"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/go-sql-driver/mysql"

	"lockcheck/checker/model"
	"lockcheck/clusters"
	"lockcheck/clusters/backend/mariadb"
	"lockcheck/clusters/testkit/needs"
)

// mariadbServer is a server that a test started, with passwords.
type mariadbServer struct {
	endpoint string
	admin    *sql.DB
}

// startMariaDB starts a server where the user locker may make databases of lockcheck's names, and powerless none.
func startMariaDB(t *testing.T, password string) *mariadbServer {
	t.Helper()
	found, err := mariadb.Backend{}.Software().OnMachine(clusters.ServerPaths{})
	if err != nil {
		skip(t, "%v", err)
	}
	dir, port := t.TempDir(), strconv.Itoa(needs.Port(t))
	data := filepath.Join(dir, "data")
	users := writeFile(t, "users.sql", "flush privileges;\ncreate user admin@'127.0.0.1' identified by 'of-the-test';\ngrant all on *.* to admin@'127.0.0.1' with grant option;\n"+
		"create user locker@'127.0.0.1' identified by '"+password+"';\ngrant all on `lockcheck\\_%`.* to locker@'127.0.0.1';\n"+
		"create user powerless@'127.0.0.1' identified by '"+password+"';\ncreate database application;\ncreate table application.t (n int primary key);\ninsert into application.t values (7);\n")
	install := exec.Command("mariadb-install-db", "--no-defaults", "--datadir="+data, "--auth-root-authentication-method=normal", "--skip-test-db", "--skip-name-resolve", "--extra-file="+users)
	if text, err := anotherUser(install).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	startCommand(t, anotherUser(exec.Command(found[0], "--no-defaults", "--datadir="+data, "--bind-address=127.0.0.1", "--port="+port, "--socket="+filepath.Join(dir, "s"),
		"--pid-file="+filepath.Join(dir, "pid"), "--skip-name-resolve", "--innodb-flush-log-at-trx-commit=0")))
	s := &mariadbServer{endpoint: "127.0.0.1:" + port}
	config := mysql.NewConfig()
	config.User, config.Passwd, config.Net, config.Addr = "admin", "of-the-test", "tcp", s.endpoint
	connector, err := mysql.NewConnector(config)
	if err != nil {
		t.Fatal(err)
	}
	s.admin = sql.OpenDB(connector)
	t.Cleanup(func() { _ = s.admin.Close() })
	awaitService(t, s.admin.PingContext)
	return s
}

func (s *mariadbServer) access(t *testing.T, password, user string) string {
	return writeAccess(t, password, map[string]string{"username": user})
}

// there is what the server has: its databases and the rows of another program's.
func (s *mariadbServer) there(t *testing.T) (all []string) {
	t.Helper()
	rows, err := s.admin.QueryContext(t.Context(), "select schema_name from information_schema.schemata union all select n from application.t")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var one string
		if err := rows.Scan(&one); err != nil {
			t.Fatal(err)
		}
		all = append(all, one)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	slices.Sort(all)
	return all
}

func TestAttachedToMariaDBWithPasswords(t *testing.T) {
	t.Parallel()
	const password = "5eed-of-the-locker-m1"
	server := startMariaDB(t, password)
	before := server.there(t)
	for _, c := range []struct {
		client string
		fault  disturbance
	}{{"get-lock", pauseHarmless}, {"row-lease", pauseHolder}} {
		o := disturbedRun(t, password, c.fault, "--backend=mariadb", "--client="+c.client, "--attach="+server.endpoint, "--attach-config="+server.access(t, password, "locker"), "--time-limit=8s")
		endsWith(t, o, o.code, "attached to mariadb at "+server.endpoint, "the database lockcheck_")
		mustPass(t, o, model.LockLinearizability)
		if after := server.there(t); !slices.Equal(after, before) {
			t.Fatalf("%s: the server had %v, and has %v", c.client, before, after)
		}
	}
}

func TestWhatMariaDBTurnsDown(t *testing.T) {
	t.Parallel()
	const password = "5eed-of-the-locker-m2"
	server := startMariaDB(t, password)
	before := server.there(t)
	for name, c := range map[string]struct {
		endpoint, access string
		code             int
		says             string
	}{
		"a wrong password": {server.endpoint, server.access(t, "of-somebody-else", "locker"), 64, "password_file"},
		"no right":         {server.endpoint, server.access(t, password, "powerless"), 64, "GRANT ALL"},
		"another service":  {startRedis(t, "x").endpoint, server.access(t, password, "locker"), 69, "is it MariaDB"},
	} {
		t.Run(name, func(t *testing.T) {
			o := atOnce(t, program, "run", "--seed=1", "--backend=mariadb", "--attach="+c.endpoint, "--attach-config="+c.access)
			endsWith(t, o, c.code, c.says)
			empty(t, o)
		})
	}
	const taken = "lockcheck_20260102_0123abcd" // of takenPrefix
	if _, err := server.admin.ExecContext(context.Background(), "create database "+taken); err != nil {
		t.Fatal(err)
	}
	o := lockcheck(t, planted, "run", "--seed=1", "--backend=mariadb", "--attach="+server.endpoint, "--attach-config="+server.access(t, password, "locker"))
	endsWith(t, o, 69, "the database "+taken)
	if _, err := server.admin.ExecContext(context.Background(), "drop database "+taken); err != nil {
		t.Fatal(err)
	}
	if after := server.there(t); !slices.Equal(after, before) {
		t.Errorf("the server had %v, and has %v", before, after)
	}
}
