package mariadb

import (
	_ "embed"
	"fmt"
	"path"
	"path/filepath"
	"slices"
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

// part is what a server plays among others.
type part struct {
	role  []string          // as start.sh is told
	lines []string          // of its configuration
	files map[string][]byte // by their names
}

// configuration is the server's own file. Nothing listens but on the host's own address and a socket among the data.
func configuration(self clusters.Host, dir string, values map[string]string, more []string) []byte {
	all := []string{
		"[mariadbd]", "datadir = " + path.Join(dir, "data"), "socket = " + path.Join(dir, "socket"), "pid_file = " + path.Join(dir, "pid"),
		"bind_address = " + self.Addr(), "port = " + port, "skip_name_resolve",
		"innodb_log_file_size = 16M", "log_warnings = 1", "max_connect_errors = 1000000", // a partition is no reason to lock clients out
	}
	return []byte(strings.Join(slices.Concat(all, more, lines(values)), "\n") + "\n")
}

// paired is the part of a server alone, or of one beside another. follows says that it is a replica of the other.
func paired(dir string, other clusters.Host, follows bool) part {
	if other == nil {
		return part{role: []string{"primary"}}
	}
	p := part{
		role:  []string{"primary"},
		lines: []string{"log_bin = " + path.Join(dir, "data", "binlog"), "binlog_format = ROW", "log_slave_updates", "gtid_strict_mode", "skip_slave_start"},
		files: map[string][]byte{"follow.sql": follow(other)},
	}
	if follows {
		p.role[0] = "replica"
	}
	return p
}

// follow has a server replicate another from where it stopped, or from the beginning of the other's log.
func follow(other clusters.Host) []byte {
	return fmt.Appendf(nil, "change master to master_host='%s', master_port=%s, master_user='%s', master_connect_retry=1, master_use_gtid=slave_pos;\nstart slave;\n",
		other.Addr(), port, admin)
}

// command starts a server that plays a part, which may depend on where its data is.
func command(found clusters.Command, self clusters.Host, values map[string]string, play func(dir string) part) (clusters.Command, error) {
	dir, err := self.DataDir(dataName)
	if err != nil {
		return found, err
	}
	at := func(name string) string { return path.Join(dir, name) }
	program, install := found.Program, "mariadb-install-db"
	if filepath.IsAbs(program) {
		if install, err = installer(program); err != nil {
			return found, err
		}
	}
	p := play(dir)
	found.Program, found.Args = "sh", append([]string{at("start.sh"), dir, program, install}, p.role...)
	found.Log, found.Data, found.OtherUser = dataName, dataName, true
	found.Files = map[string][]byte{at("start.sh"): startScript, at("my.cnf"): configuration(self, dir, values, p.lines), at("first.sql"): firstData()}
	for name, content := range p.files {
		found.Files[at(name)] = content
	}
	return found, nil
}
