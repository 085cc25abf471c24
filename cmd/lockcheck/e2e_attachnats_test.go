//go:build e2e

package main_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"lockcheck/checker/model"
	"lockcheck/clusters"
	"lockcheck/clusters/backend/nats"
	"lockcheck/clusters/testkit/needs"
)

// natsServer is a server that a test started, with TLS and users.
type natsServer struct {
	endpoint, ca, cert, key string
	admin                   jetstream.JetStream
}

// startNATS starts a server with TLS, where the user locker may do no more than lockcheck needs, and powerless nothing.
func startNATS(t *testing.T, secret string) *natsServer {
	t.Helper()
	found, err := nats.Backend{}.Software().OnMachine(clusters.ServerPaths{})
	if err != nil {
		skip(t, "%v", err)
	}
	s := &natsServer{}
	s.ca, s.cert, s.key = certificates(t, "127.0.0.1")
	s.endpoint = net.JoinHostPort("127.0.0.1", strconv.Itoa(needs.Port(t)))
	user := func(name string, publish ...string) map[string]any {
		return map[string]any{"user": name, "password": secret, "permissions": map[string]any{"publish": publish, "subscribe": []string{"_INBOX.>"}}}
	}
	var config bytes.Buffer
	encoder := json.NewEncoder(&config)
	encoder.SetEscapeHTML(false) // the server knows no such escapes
	err = encoder.Encode(map[string]any{
		"listen": s.endpoint, "jetstream": map[string]string{"store_dir": filepath.Join(t.TempDir(), "data")},
		"tls": map[string]any{"cert_file": s.cert, "key_file": s.key, "ca_file": s.ca, "verify": true},
		"accounts": map[string]any{
			"A": map[string]any{"jetstream": "enabled", "users": []any{user("admin", ">"), user("locker", "$JS.API.>", "$JS.FC.>", "$KV.>"), user("powerless", "none")}},
			"B": map[string]any{"users": []any{user("elsewhere", ">")}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	startService(t, found[0], "-c", writeFile(t, "server.conf", config.String()))
	awaitService(t, func(ctx context.Context) error {
		conn, err := natsgo.Connect("nats://"+s.endpoint, natsgo.UserInfo("admin", secret), natsgo.RootCAs(s.ca), natsgo.ClientCert(s.cert, s.key))
		if err != nil {
			return err
		}
		t.Cleanup(conn.Close)
		s.admin, err = jetstream.New(conn)
		if err == nil {
			_, err = s.admin.AccountInfo(ctx)
		}
		return err
	})
	return s
}

func (s *natsServer) access(t *testing.T, secret, user string) string {
	return writeAccess(t, secret, map[string]string{"ca": s.ca, "cert": s.cert, "key": s.key, "username": user})
}

// streams are all that there are.
func (s *natsServer) streams(t *testing.T) (all []string) {
	t.Helper()
	names := s.admin.StreamNames(t.Context())
	for name := range names.Name() {
		all = append(all, name)
	}
	if err := names.Err(); err != nil {
		t.Fatal(err)
	}
	slices.Sort(all)
	return all
}

// keys counts those of all streams.
func (s *natsServer) keys(t *testing.T) (n int) {
	t.Helper()
	for _, name := range s.streams(t) {
		stream, err := s.admin.Stream(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		n += int(stream.CachedInfo().State.NumSubjects)
	}
	return n
}

// use has another program write to a bucket of its own all the time.
func (s *natsServer) use(t *testing.T) application {
	t.Helper()
	bucket, err := s.admin.CreateKeyValue(t.Context(), jetstream.KeyValueConfig{Bucket: "application"})
	if err != nil {
		t.Fatal(err)
	}
	return use(t, func(n int) (string, error) {
		key, value := fmt.Sprintf("%06d", n), fmt.Sprintf("\x00value %d\xff", n)
		revision, err := bucket.Create(t.Context(), key, []byte(value))
		return fmt.Sprintf("%s=%x at %d", key, value, revision), err
	}, func() (all []string) {
		keys, err := bucket.Keys(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range keys {
			entry, err := bucket.Get(t.Context(), key)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, fmt.Sprintf("%s=%x at %d", key, entry.Value(), entry.Revision()))
		}
		slices.Sort(all)
		return all
	})
}

func TestAttachedToNATSWithUsersAndTLS(t *testing.T) {
	t.Parallel()
	const secret = "5eed-of-the-locker-1"
	server := startNATS(t, secret)
	app := server.use(t)
	for _, d := range whatHoldersMeet() {
		o := disturbedRun(t, secret, d, "--backend=nats", "--attach="+server.endpoint, "--attach-config="+server.access(t, secret, "locker"), "--time-limit=12s")
		endsWith(t, o, o.code, "attached to nats at "+server.endpoint, "the bucket lockcheck-")
		mustPass(t, o, model.LockLinearizability, model.TokenMonotonicity)
	}
	app.found(t)
	if got := server.streams(t); !slices.Equal(got, []string{"KV_application"}) {
		t.Errorf("the streams are %v", got)
	}
}

func TestCleanRemovesWhatAKilledRunLeftInNATS(t *testing.T) {
	t.Parallel()
	const secret = "5eed-of-the-locker-2"
	server := startNATS(t, secret)
	cleanAfterKill(t, []string{"--backend=nats"}, []string{"--attach=" + server.endpoint, "--attach-config=" + server.access(t, secret, "locker")},
		"removed the bucket lockcheck-", func() int { return server.keys(t) })
}

func TestWhatNATSTurnsDown(t *testing.T) {
	t.Parallel()
	const secret = "5eed-of-the-locker-3"
	server := startNATS(t, secret)
	const taken = "lockcheck-20260102-0123abcd" // of takenPrefix
	if _, err := server.admin.CreateKeyValue(t.Context(), jetstream.KeyValueConfig{Bucket: taken}); err != nil {
		t.Fatal(err)
	}
	member := startEtcd(t, "127.0.0.1", "")
	for name, c := range map[string]struct {
		program, endpoint, access string
		args                      []string
		code                      int
		says                      []string
	}{
		"a wrong password":       {program, server.endpoint, server.access(t, "of-somebody-else", "locker"), nil, 64, []string{"does not let this user in", "password_file"}},
		"no right":               {program, server.endpoint, server.access(t, secret, "powerless"), nil, 64, []string{"this user may not do that", "$JS.API.>"}},
		"no JetStream":           {program, server.endpoint, server.access(t, secret, "elsewhere"), nil, 69, []string{"has no JetStream, or none for this user"}},
		"too few servers":        {program, server.endpoint, server.access(t, secret, "locker"), []string{"--set=replicas=3"}, 64, []string{"--set=replicas=1"}},
		"no TLS":                 {program, server.endpoint, writeAccess(t, secret, map[string]string{"username": "locker"}), nil, 69, []string{"does it speak TLS"}},
		"another service":        {program, member.endpoint, server.access(t, secret, "locker"), nil, 69, []string{"is it NATS"}},
		"a fraction of a second": {program, server.endpoint, server.access(t, secret, "locker"), []string{"--ttl=2900ms"}, 64, []string{"the nearest it can is 3s"}},
		"a bucket that is there": {planted, server.endpoint, server.access(t, secret, "locker"), nil, 69, []string{"a run uses none that it did not make: the bucket " + taken}},
	} {
		t.Run(name, func(t *testing.T) {
			o := atOnce(t, c.program, append([]string{"run", "--seed=1", "--backend=nats", "--attach=" + c.endpoint, "--attach-config=" + c.access}, c.args...)...)
			endsWith(t, o, c.code, c.says...)
			empty(t, o)
		})
	}
	if got := server.streams(t); !slices.Equal(got, []string{"KV_" + taken}) {
		t.Errorf("the streams are %v", got)
	}
}
