//go:build e2e

package main_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
	"lockcheck/clusters"
	"lockcheck/clusters/backend/etcd"
)

// What servers have to survive, or do not, when their disks are at fault.
var diskRows = []aimed{
	{
		name: "the disk of the leader stands still", backend: "etcd", args: []string{"--nemesis=disk:leader@work,stall,1.5..2ttl", "--time-limit=12s"},
		why:     "a leader that cannot write is replaced; what was acknowledged is on a majority's disks",
		shownBy: "TestAimedFaults: an old leader does not revoke",
		exposed: history.OfServers("disk-faults"), may: belief, local: true, also: allHeal,
	},
	{
		// Who works will release the lock, which the leader has to write: each of these faults is met.
		name: "the disk of the leader fails", backend: "etcd", args: []string{"--nemesis=disk:leader@work,error,1..1.5ttl", "--time-limit=12s"},
		why:     "a member that cannot write ends itself, and another one leads; what was acknowledged is on a majority's disks",
		exposed: history.OfServers("disk-faults"), may: belief, local: true, also: endThemselves,
	},
	{
		name: "an old leader revokes", backend: "etcd", args: stalledLeader, with: oldEtcd,
		why:     "a leader that waits for its disk extends leases that its successor ends, and has its successor end others when it wakes up (etcd#12528, #15247)",
		exposed: history.OfServers("disk-faults"), violates: []model.Name{model.EarlyExpiry}, may: anything, local: true, also: ranOldEtcd,
	},
	{
		name: "an old leader does not revoke", backend: "etcd", args: stalledLeader,
		why:     "etcd 3.7 looks whether it still leads before it extends or revokes a lease; a holder that it does not answer may believe too long",
		exposed: history.OfServers("disk-faults"), may: belief, local: true, also: allHeal,
	},
}

// stalledLeader has a holder wait for its write while the leader's disk stands still for longer than an election and a lease. Another
// holder is at work then, so that the leader has something to write, and stops to send heartbeats. With one key all others could be
// waiting, and a leader with nothing to write leads on. The lease is longer than an extension takes that was on its way to that leader:
// with a shorter one its holder hears in time that the lease ran out.
var stalledLeader = []string{"--ttl=4s", "--clients=8", "--keys=4", "--nemesis=partition:holder-resource@work;disk:leader@work,stall,1.6..1.8ttl", "--time-limit=26s"}

func init() { aimedRows = append(aimedRows, diskRows...) }

// endThemselves looks for servers that ended because their disks had failed. The last fault may be over before its server met it.
func endThemselves(t *testing.T, o outcome) {
	t.Helper()
	met := 0
	for _, f := range inOrder(t, o) {
		if !strings.Contains(f.ended.Detail, "fail (EIO)") {
			t.Errorf("%s of %s: %q", f.invoked.F, f.invoked.Target, f.ended.Detail)
		}
		if strings.Contains(f.healed.Detail, "ended by itself, and started again: "+f.invoked.Target) {
			met++
		}
	}
	if met == 0 {
		t.Error("no server ended by itself on its failing disk")
	}
}

// oldRelease is the etcd of Debian 12.
const oldRelease = "3.4.23"

// oldEtcd names that program.
func oldEtcd(t *testing.T) []string {
	t.Helper()
	path, err := exec.LookPath("etcd")
	if err != nil {
		skip(t, "etcd %s is not on PATH: apt-get install etcd-server brings it in Debian 12", oldRelease)
	}
	if version, err := (etcd.Backend{}).Software().Version(t.Context(), []string{path}); version != oldRelease {
		skip(t, "%s is etcd %s (%v), not %s", path, version, err, oldRelease)
	}
	return []string{"--" + clusters.FlagServerBin + "=" + path}
}

// ranOldEtcd wants every such loss put down to the disk, in a run that says which etcd it had.
func ranOldEtcd(t *testing.T, o outcome) {
	t.Helper()
	if o.results.Versions["etcd"] != oldRelease {
		t.Errorf("the run says that etcd is %q", o.results.Versions["etcd"])
	}
	for _, f := range o.of(t, model.EarlyExpiry).Findings {
		if f.Cause.Kind != "disk fault of leader" {
			t.Errorf("%s: put down to %s", f.Summary, f.Cause.Kind)
		}
	}
}

// Faults of disks need no root where everybody may open the kernel's end of a file system, and are refused elsewhere with what would help.
func TestDiskFaultsAsAnUnprivilegedUser(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ spec, exposed string }{{"disk:leader@work,stall,1.5..2ttl", "disk-faults"}, {"power:leader@work", "power-cuts"}} {
		o := asNobody(t, "run", "--backend=etcd", "--provider=local", "--nemesis="+c.spec, "--time-limit=8s", "--seed=1")
		if device, err := os.Stat("/dev/fuse"); err == nil && device.Mode().Perm()&0o006 == 0o006 {
			if n := exposure(o, history.OfServers(c.exposed)); n == 0 || o.code > 1 {
				t.Errorf("%s: exit %d, %d %s", c.spec, o.code, n, c.exposed)
			}
			allHeal(t, o)
			continue
		}
		if o.code != 69 || !strings.Contains(o.stderr, "/dev/fuse cannot be opened") || !strings.Contains(o.stderr, "chmod a+rw /dev/fuse") {
			t.Errorf("%s: exit %d, want 69 and what would help", c.spec, o.code)
		}
	}
}
