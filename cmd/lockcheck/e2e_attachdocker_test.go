//go:build e2e

package main_test

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"testing"

	"lockcheck/checker/model"
	"lockcheck/clusters/provider/docker"
	"lockcheck/clusters/testkit"
	"lockcheck/clusters/testkit/needs"
)

// Clients in containers at services that a test started by hand. No image of any server is needed.

// needEngine skips a test where no containers can be run.
func needEngine(t *testing.T) {
	t.Helper()
	if err := docker.Available(context.Background()); err != nil {
		skip(t, "no container engine: %v", err)
	}
}

// pastTheLease is a load in which a machine that takes ten times as long as another has a fault outlast a lease.
const pastTheLease = "--time-limit=16s"

// contained is a run at a service that others run, with its clients in containers.
func contained(t *testing.T, secret string, args ...string) outcome {
	t.Helper()
	o := attachedRun(t, secret, append([]string{"--provider=docker", "--clients=3"}, args...)...)
	notJudged(t, o)
	nothingRemembered(t, o)
	nothingLeft(t, o)
	return o
}

// The container of a lock client of the user's finds the service at the address that it has outside, which is none of loopback here,
// and shows its password. A partition hits the way there, and a pause the container.
func TestAContainerIsAttachedToRedisWithAnACL(t *testing.T) {
	t.Parallel()
	needEngine(t)
	const secret = "planted-91c4e07b"
	image := imageIn(t, "LOCKCHECK_CLIENT_IMAGE_BSM_REDISLOCK")
	server := startRedisAt(t, testkit.OwnAddress(t), secret)
	access := writeAccess(t, secret, map[string]string{"username": "locker"})
	before := server.dump(t)
	for _, c := range []struct {
		nemesis, exposure string
		code              []int
	}{
		{"pause:holder@work,1.5ttl", "pauses-past-the-lease", []int{1}},
		{"partition:holder@work,1.5ttl", "partitions-past-the-lease", []int{0, 1}}, // from the resource, too: it cannot finish its work
	} {
		args := []string{"--backend=redis", "--client-image=" + image, "--attach=" + server.endpoint, "--attach-config=" + access, "--nemesis=" + c.nemesis, pastTheLease}
		if slices.Equal(c.code, []int{1}) {
			args = endingAt(harmed, args...)
		} else { // no harm ends it
			args = append(args, meetsInContainers)
		}
		o := contained(t, secret, args...)
		if !slices.Contains(c.code, o.code) {
			t.Fatalf("%s: exit %d, want one of %v\n%s", c.nemesis, o.code, c.code, o.stderr)
		}
		endsWith(t, o, o.code, "attached to redis at "+server.endpoint+": 3 clients", "what your client makes of them is up to it")
		exposed(t, o, c.exposure)
	}
	if after := server.dump(t); after != before {
		t.Errorf("what another program has there was\n%s\nand is\n%s", before, after)
	}
}

// lockcheck's own clients in containers have the files that TLS needs, at an address of loopback, too.
func TestContainersAreAttachedToEtcdWithTLS(t *testing.T) {
	t.Parallel()
	needEngine(t)
	const secret = "planted-3be21d55"
	for _, addr := range []string{testkit.OwnAddress(t), "127.0.0.1"} {
		member := startEtcd(t, addr, secret)
		app := member.use(t)
		o := contained(t, secret, endingAt(harmed, "--backend=etcd", "--attach="+member.endpoint, "--attach-config="+member.access(t, secret),
			"--nemesis=pause:holder@work,1.5ttl", pastTheLease)...)
		endsWith(t, o, 1, "attached to etcd at "+member.endpoint+": 3 clients")
		exposed(t, o, "pauses-past-the-lease")
		mustPass(t, o, model.LockLinearizability, model.TokenMonotonicity)
		app.found(t)
	}
}

// What it makes belongs to who shows its password, and lockcheck removes it.
func TestKazooInAContainerIsAttachedToZooKeeperWithDigest(t *testing.T) {
	t.Parallel()
	needEngine(t)
	const secret = "planted-e80f6a12"
	image := imageIn(t, "LOCKCHECK_CLIENT_IMAGE_KAZOO")
	server := startZooKeeper(t, secret)
	before := server.tree(t)
	o := contained(t, secret, endingAt(harmed, "--backend=zookeeper", "--client-image="+image, "--attach="+server.endpoint,
		"--attach-config="+writeAccess(t, secret, map[string]string{"username": "locker"}), "--nemesis=pause:holder@work,1.5ttl", pastTheLease)...)
	endsWith(t, o, 1, "nodes below /lockcheck/")
	exposed(t, o, "pauses-past-the-lease")
	mustPass(t, o, model.TokenMonotonicity)
	if after := server.tree(t); after != before {
		t.Errorf("what another program has there was\n%s\nand is\n%s", before, after)
	}
}

// What cannot be is said before any client is started, and no container stays.
func TestWhatContainersCannotBeAttachedTo(t *testing.T) {
	t.Parallel()
	needEngine(t)
	closed := "127.0.0.1:" + strconv.Itoa(needs.Port(t))
	for name, c := range map[string]struct {
		args []string
		code int
		says string
	}{
		"refused":      {[]string{"--attach=" + closed}, 69, closed + " cannot be connected to"},
		"no such name": {[]string{"--attach=nowhere.invalid:2379"}, 69, "nowhere.invalid:2379 cannot be found"},
		"an image":     {[]string{"--attach=" + closed, "--image=etcd:1"}, 64, "--image is for servers that lockcheck starts"},
	} {
		o := atOnce(t, program, append([]string{"run", "--seed=1", "--backend=etcd", "--provider=docker"}, c.args...)...)
		endsWith(t, o, c.code, c.says)
		empty(t, o)
		if strings.Contains(o.stderr, "clients ready") {
			t.Errorf("%s: clients were started", name)
		}
	}
}
