//go:build e2e

package main_test

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"lockcheck/checker/model"
	"lockcheck/clusters/testkit"
	"lockcheck/clusters/testkit/needs"
)

// redisServer is a server that a test started.
type redisServer struct {
	endpoint      string
	ca, cert, key string // "" without TLS
	admin         *redis.Client
}

// startRedis starts a server whose user locker may use keys of lockcheck's, with the commands of its lock clients.
func startRedis(t *testing.T, password string) *redisServer {
	t.Helper()
	return startRedisAt(t, "127.0.0.1", password)
}

// startRedisAt starts it at an address of this machine.
func startRedisAt(t *testing.T, addr, password string) *redisServer {
	t.Helper()
	s := &redisServer{endpoint: freePlace(t, addr)}
	s.start(t, password)
	s.fill(t)
	return s
}

// startRedisWithTLS is startRedis of a server that speaks nothing but TLS, with clients that show certificates.
func startRedisWithTLS(t *testing.T, password string) *redisServer {
	t.Helper()
	s := &redisServer{endpoint: freePlace(t, "127.0.0.1")}
	s.ca, s.cert, s.key = certificates(t, "127.0.0.1")
	s.start(t, password)
	s.fill(t)
	return s
}

func freePlace(t *testing.T, addr string) string {
	t.Helper()
	return net.JoinHostPort(addr, strconv.Itoa(needs.Port(t)))
}

// listening are the lines that say where a server or Sentinel does.
func listening(t *testing.T, endpoint string) []string {
	t.Helper()
	host, port, err := net.SplitHostPort(endpoint)
	if err != nil {
		t.Fatal(err)
	}
	return []string{"port " + port, "bind " + host, "protected-mode no", "dir " + t.TempDir()}
}

func (s *redisServer) start(t *testing.T, password string, more ...string) {
	t.Helper()
	lines := append(listening(t, s.endpoint), `save ""`, "user default off",
		"user locker on >"+password+" ~lockcheck:* -@all +get +set +del +exists +incr +pexpire +eval +evalsha",
		"user application on >of-the-test ~* &* +@all")
	options := &redis.Options{Addr: s.endpoint, Username: "application", Password: "of-the-test"}
	if s.ca != "" {
		_, port, _ := net.SplitHostPort(s.endpoint)
		lines[0] = "port 0\ntls-port " + port
		more = append(more, "tls-cert-file "+s.cert, "tls-key-file "+s.key, "tls-ca-cert-file "+s.ca)
		options.TLSConfig = trusting(t, s.ca, s.cert, s.key)
	}
	startService(t, "redis-server", writeFile(t, "redis.conf", strings.Join(append(append(lines, more...), ""), "\n")))
	s.admin = redis.NewClient(options)
	t.Cleanup(func() { s.admin.Close() })
	awaitService(t, func(ctx context.Context) error { return s.admin.Ping(ctx).Err() })
}

// fill writes what another program has there.
func (s *redisServer) fill(t *testing.T) {
	t.Helper()
	if err := s.admin.Set(t.Context(), "application:x", "\x00y\xff", 0).Err(); err != nil {
		t.Fatal(err)
	}
	if err := s.admin.RPush(t.Context(), "lockchecker", "1", "2").Err(); err != nil { // no key of lockcheck's, for all its name
		t.Fatal(err)
	}
}

// lines is all that the server has, byte for byte.
func (s *redisServer) lines(t *testing.T) (all []string) {
	t.Helper()
	keys, err := s.admin.Keys(t.Context(), "*").Result()
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(keys)
	for _, key := range keys {
		value, err := s.admin.Dump(t.Context(), key).Result()
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, fmt.Sprintf("%s %x", key, value))
	}
	return all
}

func (s *redisServer) dump(t *testing.T) string { return strings.Join(s.lines(t), "\n") }

// use has another program write keys all the time, in a server that is empty before.
func (s *redisServer) use(t *testing.T) application {
	t.Helper()
	return use(t, func(n int) (string, error) {
		key := fmt.Sprintf("application:%06d", n)
		if err := s.admin.Set(t.Context(), key, fmt.Sprintf("\x00value %d\xff", n), 0).Err(); err != nil {
			return "", err
		}
		value, err := s.admin.Dump(t.Context(), key).Result()
		return fmt.Sprintf("%s %x", key, value), err
	}, func() []string { return s.lines(t) })
}

// A server with TLS, certificates of clients and users, at loopback: its certificate names no address that clients see.
func TestAttachedToRedisOverTLS(t *testing.T) {
	t.Parallel()
	const secret = "planted-a4410be7"
	server := startRedisWithTLS(t, secret)
	words := map[string]string{"ca": server.ca, "cert": server.cert, "key": server.key, "username": "locker"}
	access := writeAccess(t, secret, words)
	before := server.dump(t)
	for _, d := range whatHoldersMeet() {
		disturbedRun(t, secret, d, "--backend=redis", "--attach="+server.endpoint, "--attach-config="+access, "--time-limit=7s")
		if after := server.dump(t); after != before {
			t.Errorf("what another program has there was\n%s\nand is\n%s", before, after)
		}
	}
	for says, words := range map[string]map[string]string{
		"does it speak TLS": {"username": "locker"},
		"unknown authority": {"username": "locker", "server_name": "127.0.0.1"},
		"certificate":       {"username": "locker", "ca": server.ca}, // of a client, which the server misses
	} {
		bad := atOnce(t, program, "run", "--backend=redis", "--attach="+server.endpoint, "--attach-config="+writeAccess(t, secret, words))
		endsWith(t, bad, 69, says)
		empty(t, bad)
	}
}

// Three independent servers. A client that is cut off from all of them loses its lock; each has something of another program's.
func TestAttachedToRedlock(t *testing.T) {
	t.Parallel()
	const secret = "planted-6c02d9f5"
	var servers []*redisServer
	var endpoints, before []string
	for range 3 {
		s := startRedis(t, secret)
		servers, endpoints, before = append(servers, s), append(endpoints, s.endpoint), append(before, s.dump(t))
	}
	access := writeAccess(t, secret, map[string]string{"username": "locker"})
	for _, c := range []struct {
		client string
		fault  disturbance
	}{{"redlock", pauseHolder}, {"redsync", cutOffHolder}} {
		o := disturbedRun(t, secret, c.fault, "--backend=redlock", "--client="+c.client, "--attach="+strings.Join(endpoints, ","), "--attach-config="+access, "--time-limit=7s")
		endsWith(t, o, o.code, "attached to redlock at "+strings.Join(endpoints, ", "))
		mustPass(t, o, model.LockLinearizability)
		for i, s := range servers {
			if after := s.dump(t); after != before[i] {
				t.Errorf("what another program has at %s was\n%s\nand is\n%s", s.endpoint, before[i], after)
			}
		}
	}
	wrong := writeAccess(t, "wrong", map[string]string{"username": "locker"})
	bad := atOnce(t, program, "run", "--backend=redlock", "--attach="+strings.Join(endpoints, ","), "--attach-config="+wrong)
	endsWith(t, bad, 64, "WRONGPASS", "password_file")
	empty(t, bad)
}

// sentinels are a primary, its replica and two Sentinels, at an address of this machine that is none of loopback: clients find the primary
// where the Sentinels say that it is.
type sentinels struct {
	primary, replica *redisServer
	guards           []string
}

func startSentinels(t *testing.T, addr, password string) sentinels {
	t.Helper()
	s := sentinels{primary: &redisServer{endpoint: freePlace(t, addr)}, replica: &redisServer{endpoint: freePlace(t, addr)}}
	of := strings.Replace(s.primary.endpoint, ":", " ", 1)
	s.primary.start(t, password)
	s.replica.start(t, password, "replicaof "+of, "masteruser application", "masterauth of-the-test")
	for range 2 {
		at := freePlace(t, addr)
		startService(t, "redis-server", writeFile(t, "sentinel.conf", strings.Join(append(listening(t, at),
			"sentinel monitor theirs "+of+" 2", "sentinel auth-user theirs application", "sentinel auth-pass theirs of-the-test", ""), "\n")), "--sentinel")
		s.guards = append(s.guards, at)
	}
	for _, at := range s.guards {
		asked := redis.NewSentinelClient(&redis.Options{Addr: at})
		t.Cleanup(func() { asked.Close() })
		awaitService(t, func(ctx context.Context) error {
			replicas, err := asked.Replicas(ctx, "theirs").Result()
			others, err2 := asked.Sentinels(ctx, "theirs").Result()
			if len(replicas) != 1 || len(others) != 1 || strings.Contains(replicas[0]["flags"]+others[0]["flags"], "down") || strings.Contains(replicas[0]["flags"], "disconnected") {
				return fmt.Errorf("%s knows %v (%v) and %v (%v)", at, replicas, err, others, err2)
			}
			return nil
		})
	}
	return s
}

func (s sentinels) all() string {
	return strings.Join(append([]string{s.primary.endpoint, s.replica.endpoint}, s.guards...), ",")
}

func TestAttachedToRedisWithSentinels(t *testing.T) {
	t.Parallel()
	const secret = "planted-d83e5b60"
	theirs := startSentinels(t, testkit.OwnAddress(t), secret)
	app := theirs.primary.use(t)
	access := writeAccess(t, secret, map[string]string{"username": "locker", "master": "theirs"})
	for _, d := range whatHoldersMeet() {
		o := disturbedRun(t, secret, d, "--backend=redis", "--client=setnx-incr", "--attach="+theirs.all(), "--attach-config="+access, "--time-limit=7s")
		endsWith(t, o, o.code, "keys that begin with lockcheck:")
		mustPass(t, o, model.TokenMonotonicity)
	}
	app.found(t)
	for name, c := range map[string]struct {
		attach string
		words  map[string]string
		code   int
		says   []string
	}{
		"no primary by name": {theirs.all(), map[string]string{}, 64, []string{"has to name the master"}},
		"another name":       {theirs.all(), map[string]string{"master": "ours"}, 64, []string{"no Sentinel that knows a primary by the name of ours"}},
		"one is missing":     {strings.Join(theirs.guards, ","), map[string]string{"master": "theirs"}, 64, []string{"a run connects to no place that was not named", theirs.primary.endpoint, theirs.replica.endpoint}},
	} {
		t.Run(name, func(t *testing.T) {
			c.words["username"] = "locker"
			o := atOnce(t, program, "run", "--backend=redis", "--attach="+c.attach, "--attach-config="+writeAccess(t, secret, c.words))
			endsWith(t, o, c.code, c.says...)
			empty(t, o)
		})
	}
}

func TestSentinelsThatNameALoopbackAddressAreRefused(t *testing.T) {
	t.Parallel()
	theirs := startSentinels(t, "127.0.0.1", "of-the-locker")
	access := writeAccess(t, "of-the-locker", map[string]string{"username": "locker", "master": "theirs"})
	o := atOnce(t, program, "run", "--backend=redis", "--attach="+theirs.all(), "--attach-config="+access)
	endsWith(t, o, 64, "clients are hosts of their own, each with another loopback")
	empty(t, o)
}
