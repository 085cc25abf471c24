//go:build e2e

package main_test

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// What turns out to be impossible only once a run has begun is refused by name, with the exit code that says whose it is to
// change; a run that left nothing leaves no directory.
func TestWhatCannotBeIsRefusedByName(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name  string
		env   string
		args  []string
		code  int
		says  []string
		leave bool // a run directory, with the servers' logs
	}{
		{"no engine", "DOCKER_HOST=unix:///nonexistent", []string{"--backend=etcd", "--provider=docker"}, 69, []string{"unix:///nonexistent", "systemctl start docker", "--provider=local"}, false},
		{"no such program", "", []string{"--backend=redis", "--server-bin=/nonexistent/redis-server"}, 69, []string{"--server-bin=/nonexistent/redis-server"}, false},
		{"no redis-server", "", []string{"--backend=redis", "--server-bin=/bin/true"}, 69, []string{"n1 ended", "redis.log"}, true},
		{"no kube-apiserver", "", []string{"--backend=kubernetes", "--server-bin=/bin/true"}, 69, []string{"/bin/true is no kube-apiserver", "did not say its version"}, false},
		{"no program of the lock client", "LOCKCHECK_KUBERNETES_CLIENT=/nonexistent/elector", []string{"--backend=kubernetes", "--provider=local"}, 69, []string{"the lock client leaderelection of kubernetes", "LOCKCHECK_KUBERNETES_CLIENT=/nonexistent/elector"}, false},
		{"no API servers", "", []string{"--backend=etcd", "--provider=local", "--nemesis=kill:apiserver"}, 64, []string{"no apiserver", "kubernetes"}, false},
		{"no networks", "LOCKCHECK_NAMESPACES=off", []string{"--backend=etcd", "--provider=local", "--nemesis=partition"}, 69, []string{"nemesis partition", "unset it"}, false},
		{"no disks in containers", "", []string{"--backend=etcd", "--provider=docker", "--nemesis=disk"}, 69, []string{"faults of disks and power cuts", "an engine passes no mount", "--provider=local"}, false},
		{"no power cuts in containers", "", []string{"--backend=etcd", "--provider=docker", "--nemesis=power:all"}, 69, []string{"faults of disks and power cuts", "an engine passes no mount", "--provider=local"}, false},
		{"nothing on disk", "", []string{"--backend=redis", "--provider=local", "--nemesis=power:all"}, 64, []string{"power:all", "--set=appendonly=yes"}, false},
		{"contradictory options", "", []string{"--backend=etcd", "--provider=local", "--nemesis=disk:one,stall,error"}, 64, []string{"stall and error exclude each other"}, false},
		{"a magnitude that cannot be", "", []string{"--backend=etcd", "--provider=local", "--nemesis=rate:leader,1gbit"}, 64, []string{"1mbit", "8kbit to 20mbit"}, false},
		{"two faults of a disk of which one hides the other", "", []string{"--backend=etcd", "--provider=local", "--nemesis=disk:one,stall;disk:one,error"}, 64, []string{"steps 1 and 2", "put the second one first"}, false},
		{"no minority", "", []string{"--backend=postgres", "--provider=local", "--nemesis=power:minority"}, 64, []string{"with 2 servers there is no minority", "aim at one"}, false},
		{"a delay that no packet outlives", "", []string{"--backend=etcd", "--provider=local", "--nemesis=delay:holder,4s"}, 64, []string{"the load is over after 2s", "--time-limit"}, false},
		{"no failover behind a pooler", "", []string{"--backend=postgres", "--provider=local", "--set=pooler=session", "--nemesis=failover"}, 64, []string{"failover", "has no leader with 1 server"}, false},
		{"no standby behind a pooler", "", []string{"--backend=postgres", "--provider=local", "--set=pooler=session", "--nodes=2"}, 64, []string{"follows no failover", "--nodes=1", "pooler=none"}, false},
		{"no pooler of others", "", []string{"--backend=postgres", "--attach=127.0.0.1:1", "--set=pooler=session"}, 64, []string{"name the server behind your pooler"}, false},
		{"no leader", "", []string{"--backend=redlock", "--provider=local", "--nemesis=failover"}, 64, []string{"failover", "has no leader"}, false},
		{"no replica to ask", "", []string{"--backend=redis", "--provider=local", "--nodes=1", "--guard=ask-stale"}, 64, []string{"guard ask-stale: the lock client setnx cannot ask", "does not name ask-stale among its commands"}, true},
		{"no old copy to ask", "", []string{"--backend=postgres", "--client=row-lease", "--provider=local", "--guard=ask-stale"}, 64, []string{"guard ask-stale: the lock client row-lease cannot ask"}, true},
		{"no lock client", "", []string{"--backend=etcd", "--provider=local", "--client=/bin/true"}, 64, []string{"/bin/true", "clusters/client/README.md"}, true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if slices.Contains(c.args, "--provider=docker") && c.env == "" {
				needDocker(t)
			}
			o := outcome{out: t.TempDir()}
			cmd := exec.Command(program, append([]string{"run", "--out=" + o.out, "--time-limit=2s"}, c.args...)...)
			cmd.Env = append(os.Environ(), c.env)
			if c.leave { // it starts servers before it is refused
				defer placeFor(cmd)()
			}
			o = finishAtOnce(t, cmd, o)
			if o.code != c.code {
				t.Errorf("exit %d, want %d", o.code, c.code)
			}
			for _, say := range c.says {
				if !strings.Contains(o.stderr, say) {
					t.Errorf("it does not say %q", say)
				}
			}
			if left, err := os.ReadDir(o.out); err != nil || (len(left) > 0) != c.leave {
				t.Errorf("it left %v (%v)", left, err)
			}
		})
	}
}
