package postgres

import (
	_ "embed"
	"fmt"
	"path"
	"path/filepath"
	"strings"
	"syscall"

	"lockcheck/clusters"
)

const (
	port     = "5432"
	dataName = "postgres" // also names the log
	user     = "postgres"
	database = "postgres"
)

//go:embed start.sh
var startScript []byte

// What a server keeps for locks, made with its data: a server that comes back empty has it, too. One line each, as the
// server reads them without a client.
//
// locks is pglock's, as its documentation asks for. A lease's row stays when its lock is given back: its version has to go on.
const tables = `create table lockcheck_lease (name text primary key, owner text not null, version bigint not null, expires_at timestamptz not null)
create table lockcheck_row (name text primary key)
create sequence lockcheck_token
create table lockcheck_probe (one boolean primary key, value bigint not null)
insert into lockcheck_probe values (true, 0)
create table locks (name varchar(255) primary key, record_version_number bigint, data bytea, owner varchar(255))
create sequence locks_rvn cycle owned by locks.record_version_number
`

// admission lets in every client of the run's private network.
const admission = `host all all all trust
host replication all all trust
`

// server is what one server is told.
type server struct {
	self, other clusters.Host // other is nil for one that is alone
	values      map[string]string
}

// configuration is the server's own file. Which of two servers is the primary is not in it: both could be, and the one whose
// data says that it is a standby follows the other.
//
// Nothing listens but on the host's own address, and shared memory is among the data: it goes with the run.
func (s server) configuration() []byte {
	all := []string{
		fmt.Sprintf("listen_addresses = '%s'", s.self.Addr()), "port = " + port, "unix_socket_directories = ''",
		"dynamic_shared_memory_type = mmap", "log_line_prefix = '%m [%p] %a '", "wal_level = replica",
	}
	all = append(all, lines(s.values)...)
	if s.other != nil {
		all = append(all, fmt.Sprintf("primary_conninfo = 'host=%s port=%s user=%s application_name=%s connect_timeout=2'", s.other.Addr(), port, user, s.self.Name()))
	}
	if isSynchronous(s.values) {
		all = append(all, fmt.Sprintf("synchronous_standby_names = '%s'", s.other.Name()))
	}
	return []byte(strings.Join(all, "\n") + "\n")
}

// command starts the server. follow says that it is to make its data, if it has none, as a copy of the other's.
func (s server) command(found clusters.Command, follow bool) (clusters.Command, error) {
	dir, err := s.self.DataDir(dataName)
	if err != nil {
		return found, err
	}
	bin, followed := "", ""
	if filepath.IsAbs(found.Program) {
		bin = path.Dir(found.Program)
	}
	if follow {
		followed = s.other.Addr()
	}
	script := path.Join(dir, "start.sh")
	found.Program, found.Args = "sh", []string{script, dir, bin, followed}
	found.Log, found.Data, found.OtherUser = dataName, dataName, true
	found.StopSignal = syscall.SIGINT // at SIGTERM it waits until its last client has gone
	found.Files = map[string][]byte{
		script: startScript, path.Join(dir, "postgresql.conf"): s.configuration(), path.Join(dir, "pg_hba.conf"): []byte(admission),
		path.Join(dir, "tables.sql"): []byte(tables),
	}
	return found, nil
}
