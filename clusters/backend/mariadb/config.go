package mariadb

import (
	_ "embed"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"lockcheck/clusters"
)

const (
	port     = "3306"
	dataName = "mariadb" // also names the log
	admin    = "lockcheck_admin"
	user     = "lockcheck"
	database = "lockcheck"
)

//go:embed start.sh
var startScript []byte

// tables are what a server keeps for locks, one statement each. A lease's row stays when its lock is given back: its version has to go on.
// Names are compared byte by byte.
var tables = []string{
	"create table lockcheck_lease (name varbinary(250) primary key, owner varbinary(250) not null, version bigint not null, expires_at datetime(6) not null) engine=InnoDB",
	"create table lockcheck_row (name varbinary(250) primary key) engine=InnoDB",
	"create table lockcheck_token (name varbinary(250) primary key, value bigint not null) engine=InnoDB",
	"create table lockcheck_probe (one int primary key, value bigint not null) engine=InnoDB",
	"insert into lockcheck_probe values (1, 0)",
}

// firstData is what each server has in its data before it starts. No log of changes has it: a replica has it already.
func firstData() []byte {
	all := append([]string{
		"flush privileges", // the server that makes its data knows no users before
		"create user " + admin + "@'%'", "grant all on *.* to " + admin + "@'%'",
		"create database " + database, "create user " + user + "@'%'", "grant all on " + database + ".* to " + user + "@'%'",
		"use " + database,
	}, tables...)
	return []byte(strings.Join(all, ";\n") + ";\n")
}

// configuration is the server's own file. Nothing listens but on the host's own address and a socket among the data.
func configuration(self, other clusters.Host, dir string, values map[string]string) []byte {
	all := []string{
		"[mariadbd]", "datadir = " + path.Join(dir, "data"), "socket = " + path.Join(dir, "socket"), "pid_file = " + path.Join(dir, "pid"),
		"bind_address = " + self.Addr(), "port = " + port, "skip_name_resolve",
		"innodb_log_file_size = 16M", "log_warnings = 1", "max_connect_errors = 1000000", // a partition is no reason to lock clients out
	}
	if other != nil {
		all = append(all, "log_bin = "+path.Join(dir, "data", "binlog"), "binlog_format = ROW", "log_slave_updates", "gtid_strict_mode", "skip_slave_start")
	}
	return []byte(strings.Join(append(all, lines(values)...), "\n") + "\n")
}

// follow has a server replicate another from where it stopped, or from the beginning of the other's log.
func follow(other clusters.Host) []byte {
	return fmt.Appendf(nil, "change master to master_host='%s', master_port=%s, master_user='%s', master_connect_retry=1, master_use_gtid=slave_pos;\nstart slave;\n",
		other.Addr(), port, admin)
}

// command starts a server. follows says that it is a replica of the other.
func command(found clusters.Command, self, other clusters.Host, follows bool, values map[string]string) (clusters.Command, error) {
	dir, err := self.DataDir(dataName)
	if err != nil {
		return found, err
	}
	at := func(name string) string { return path.Join(dir, name) }
	program, install, role := found.Program, "mariadb-install-db", "primary"
	if filepath.IsAbs(program) {
		if install, err = installer(program); err != nil {
			return found, err
		}
	}
	if follows {
		role = "replica"
	}
	found.Program, found.Args = "sh", []string{at("start.sh"), dir, program, install, role}
	found.Log, found.Data, found.OtherUser = dataName, dataName, true
	found.Files = map[string][]byte{at("start.sh"): startScript, at("my.cnf"): configuration(self, other, dir, values), at("first.sql"): firstData()}
	if other != nil {
		found.Files[at("follow.sql")] = follow(other)
	}
	return found, nil
}
