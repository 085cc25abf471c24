//go:build e2e

package main_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"lockcheck/checker/model"
	"lockcheck/clusters"
	"lockcheck/clusters/backend/s3"
	"lockcheck/clusters/testkit/needs"
)

// s3Gateway is a gateway that a test started, with users.
type s3Gateway struct {
	endpoint, data string
	admin          func(ctx context.Context, args ...string) error
}

// startS3 starts a gateway where the user locker may make buckets, and powerless may not.
func startS3(t *testing.T, secret string) *s3Gateway {
	t.Helper()
	found, err := s3.Backend{}.Software().OnMachine(clusters.ServerPaths{})
	if err != nil {
		skip(t, "%v", err)
	}
	g := &s3Gateway{endpoint: net.JoinHostPort("127.0.0.1", strconv.Itoa(needs.Port(t))), data: t.TempDir()}
	g.admin = func(ctx context.Context, args ...string) error {
		said, err := exec.CommandContext(ctx, found[0], append([]string{"admin", "-a", "root", "-s", secret, "-er", "http://" + g.endpoint}, args...)...).CombinedOutput()
		if err != nil {
			err = fmt.Errorf("%w: %s", err, said)
		}
		return err
	}
	startService(t, "env", "ROOT_ACCESS_KEY=root", "ROOT_SECRET_KEY="+secret, found[0], "-port", g.endpoint, "-iam-dir", t.TempDir(), "posix", g.data)
	for user, role := range map[string]string{"locker": "userplus", "powerless": "user"} {
		awaitService(t, func(ctx context.Context) error {
			return g.admin(ctx, "create-user", "-a", user, "-s", secret, "-r", role)
		})
	}
	return g
}

func (g *s3Gateway) access(t *testing.T, secret, user string) string {
	return writeAccess(t, secret, map[string]string{"username": user})
}

// buckets are all that there are. What begins with a point is the gateway's own.
func (g *s3Gateway) buckets(t *testing.T) (all []string) {
	t.Helper()
	entries, err := os.ReadDir(g.data)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") {
			all = append(all, e.Name())
		}
	}
	return all
}

// objects counts those of all buckets. One that is removed meanwhile is none.
func (g *s3Gateway) objects(t *testing.T) (n int) {
	t.Helper()
	for _, bucket := range g.buckets(t) {
		err := filepath.WalkDir(filepath.Join(g.data, bucket), func(_ string, e os.DirEntry, err error) error {
			if err == nil && !e.IsDir() {
				n++
			}
			if errors.Is(err, os.ErrNotExist) {
				return nil
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return n
}

func TestAttachedToS3WithUsers(t *testing.T) {
	t.Parallel()
	const secret = "5eed-of-the-locker-s1"
	gateway := startS3(t, secret)
	for _, d := range whatHoldersMeet() {
		o := disturbedRun(t, secret, d, "--backend=s3", "--attach="+gateway.endpoint, "--attach-config="+gateway.access(t, secret, "locker"), "--time-limit=12s")
		endsWith(t, o, o.code, "attached to s3 at "+gateway.endpoint, "the bucket lockcheck-")
		mustPass(t, o, model.LockLinearizability, model.TokenMonotonicity)
	}
	if got := gateway.buckets(t); len(got) != 0 {
		t.Errorf("the buckets are %v", got)
	}
}

func TestCleanRemovesWhatAKilledRunLeftInS3(t *testing.T) {
	t.Parallel()
	const secret = "5eed-of-the-locker-s2"
	gateway := startS3(t, secret)
	cleanAfterKill(t, []string{"--backend=s3"}, []string{"--attach=" + gateway.endpoint, "--attach-config=" + gateway.access(t, secret, "locker")},
		"removed the bucket lockcheck-", func() int { return gateway.objects(t) })
}

func TestWhatS3TurnsDown(t *testing.T) {
	t.Parallel()
	const secret = "5eed-of-the-locker-s3"
	gateway := startS3(t, secret)
	member := startEtcd(t, "127.0.0.1", "")
	for name, c := range map[string]struct {
		endpoint, access string
		args             []string
		code             int
		says             []string
	}{
		"a wrong secret":   {gateway.endpoint, gateway.access(t, "of-somebody-else", "locker"), nil, 64, []string{"does not let this user in", "password_file"}},
		"no right":         {gateway.endpoint, gateway.access(t, secret, "powerless"), nil, 64, []string{"this user may not do that"}},
		"another region":   {gateway.endpoint, gateway.access(t, secret, "locker"), []string{"--set=region=eu-west-1"}, 64, []string{"--set=region="}},
		"another service":  {member.endpoint, gateway.access(t, secret, "locker"), nil, 69, []string{"is it S3"}},
		"a TTL too short":  {gateway.endpoint, gateway.access(t, secret, "locker"), []string{"--ttl=50ms"}, 64, []string{"the nearest it can is 200ms"}},
		"a split of a TTL": {gateway.endpoint, gateway.access(t, secret, "locker"), []string{"--ttl=2000500us"}, 64, []string{"whole milliseconds"}},
	} {
		t.Run(name, func(t *testing.T) {
			o := lockcheck(t, program, append([]string{"run", "--seed=1", "--backend=s3", "--attach=" + c.endpoint, "--attach-config=" + c.access}, c.args...)...)
			endsWith(t, o, c.code, c.says...)
			empty(t, o)
		})
	}
	const taken = "lockcheck-20260102-0123abcd" // of takenPrefix
	for owner, want := range map[string]string{"locker": "a run uses none that it did not make: the bucket " + taken, "powerless": "is another's"} {
		if err := gateway.admin(t.Context(), "create-bucket", "--owner", owner, "--bucket", taken); err != nil {
			t.Fatal(err)
		}
		o := lockcheck(t, planted, "run", "--seed=1", "--backend=s3", "--attach="+gateway.endpoint, "--attach-config="+gateway.access(t, secret, "locker"))
		endsWith(t, o, map[string]int{"locker": 69, "powerless": 64}[owner], want)
		if got := gateway.buckets(t); !slices.Equal(got, []string{taken}) {
			t.Errorf("the buckets are %v", got)
		}
		if err := os.RemoveAll(filepath.Join(gateway.data, taken)); err != nil {
			t.Fatal(err)
		}
	}
}
