//go:build e2e

package main_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
)

// A load ends with the harm that is looked for, however long that takes a busy machine.
const (
	untilHarm = "--until=mutual-exclusion,stale-write"
	atMost    = "--time-limit=90s"
)

// The lock clients of clusters/client/libraries in containers of images without any of lockcheck: what their locks do under faults of
// clients is what they do as processes of this machine.
var imageRows = []struct {
	name, backend, variable string
	args                    []string
	exposed                 []string
	violates                []model.Name // must be found, if any; all others of belief may be
	cause                   string
}{
	{
		name: "kazoo, paused past its session", backend: "zookeeper", variable: "LOCKCHECK_CLIENT_IMAGE_KAZOO",
		args:    []string{"--nemesis=pause:holder@work,2ttl", untilHarm, atMost},
		exposed: []string{history.PastLease("pauses")}, violates: []model.Name{model.MutualExclusion, model.StaleWrite}, cause: "pause of holder",
	},
	{
		name: "curator, paused past its session", backend: "zookeeper", variable: "LOCKCHECK_CLIENT_IMAGE_CURATOR",
		args:    []string{"--nodes=1", "--clients=2", "--nemesis=pause:holder@work,2ttl", untilHarm, atMost},
		exposed: []string{history.PastLease("pauses")}, violates: []model.Name{model.MutualExclusion, model.StaleWrite}, cause: "pause of holder",
	},
	{
		name: "redis-py, paused past its lease", backend: "redis", variable: "LOCKCHECK_CLIENT_IMAGE_REDIS_PY",
		args:    []string{"--nodes=1", "--nemesis=pause:holder@work,2ttl", untilHarm, atMost},
		exposed: []string{history.PastLease("pauses")}, violates: []model.Name{model.MutualExclusion, model.StaleWrite}, cause: "pause of holder",
	},
	{
		// It is told of its loss by its library, which compares its own clock when it wakes up.
		name: "rueidislock, paused past its lease", backend: "redis", variable: "LOCKCHECK_CLIENT_IMAGE_RUEIDISLOCK",
		args:    []string{"--nodes=1", "--nemesis=pause:holder@work,2ttl", meetsInContainers, pastTheLease, "--client-arg=-poll"},
		exposed: []string{history.PastLease("pauses")},
	},
	{
		// The client that is granted the lock once the lease of the one that is cut off has run out is killed. bsm/redislock tells its user of no loss.
		name: "bsm-redislock, cut off past its lease, and the next holder killed", backend: "redis", variable: "LOCKCHECK_CLIENT_IMAGE_BSM_REDISLOCK",
		args:     []string{"--nodes=1", "--nemesis=partition:holder@acquire;kill:holder@work,1ttl", meetsInContainers, "--time-limit=24s"},
		exposed:  []string{history.PastLease("partitions"), history.OfHolders("kills")},
		violates: []model.Name{model.MutualExclusion}, cause: "partition of holder",
	},
	{
		// Every fault of clients. The one that waits for a holder at work comes first: what the others do to clients may leave none.
		name: "bsm-redislock, under every fault of clients", backend: "redis", variable: "LOCKCHECK_CLIENT_IMAGE_BSM_REDISLOCK",
		args:    []string{"--nodes=1", "--nemesis=kill:holder@work;loss:client,60%;clock:client+2ttl;pause:client;partition:client-servers", meetsInContainers, "--time-limit=30s"},
		exposed: []string{"losses", "clock-skews", "pauses", "partitions", history.OfHolders("kills")},
	},
}

func TestLockClientsOfImages(t *testing.T) {
	t.Parallel()
	for _, row := range imageRows {
		for _, seed := range seeds() {
			t.Run(fmt.Sprintf("%s/%d", row.name, seed), func(t *testing.T) {
				t.Parallel()
				needDocker(t)
				image := imageIn(t, row.variable)
				o := lockcheck(t, program, append([]string{"run", "--provider=docker", "--backend=" + row.backend, "--client-image=" + image, "--clients=3", fmt.Sprintf("--seed=%d", seed)}, row.args...)...)
				if o.code != 1 && (o.code != 0 || len(row.violates) > 0) {
					t.Fatalf("exit %d\n%s", o.code, o.stderr)
				}
				for _, name := range o.violated() {
					if !slices.Contains(belief, name) {
						t.Errorf("%s is violated", name)
					}
				}
				for _, name := range row.violates {
					if !slices.Contains(o.violated(), name) {
						t.Errorf("%s is not violated", name)
					}
				}
				for _, name := range row.exposed {
					if exposure(o, name) == 0 {
						t.Errorf("no %s: %+v", name, o.results.Exposure)
					}
				}
				if row.cause != "" {
					blames(t, o, row.cause)
				}
				nothingLeft(t, o)
			})
		}
	}
}

// A container that ends before it has said that it is ready: whose it is to change, and what it said last.
func TestAnImageThatIsNoLockClientIsNoVerdict(t *testing.T) {
	t.Parallel()
	needDocker(t)
	o := lockcheck(t, program, "run", "--provider=docker", "--backend=etcd", "--nodes=1", "--clients=2", "--time-limit=2s",
		"--client-image="+imageIn(t, "LOCKCHECK_IMAGE_REDIS"), "--", "sh", "-c", "echo I give up >&2; exit 5")
	if o.code != 64 || len(o.results.Properties) > 0 {
		t.Errorf("exit %d, judged %v; want 64 and no verdict", o.code, o.results.Verdict)
	}
	for _, say := range []string{"ended before it was ready: exit status 5", "I give up", "does not speak the client protocol"} {
		if !strings.Contains(o.stderr, say) {
			t.Errorf("it does not say %s", say)
		}
	}
}
