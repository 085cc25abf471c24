//go:build e2e

package main_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"testing"

	"github.com/hashicorp/consul/api"

	"lockcheck/checker/model"
	"lockcheck/clusters"
	"lockcheck/clusters/backend/consul"
	"lockcheck/clusters/testkit/needs"
)

// consulAgent is a server that a test started, with TLS and ACLs.
type consulAgent struct {
	endpoint, ca, cert, key string
	admin                   *api.Client
}

// The tokens have to be UUIDs.
const consulAdmin = "00000000-aaaa-4000-8000-000000000001"

// startConsul starts a server that takes certificates of clients only, where a token lets its owner use nothing but keys of lockcheck's and sessions.
func startConsul(t *testing.T, token string) *consulAgent {
	t.Helper()
	found, err := consul.Backend{}.Software().OnMachine(clusters.ServerPaths{})
	if err != nil {
		skip(t, "%v", err)
	}
	c := &consulAgent{}
	c.ca, c.cert, c.key = certificates(t, "127.0.0.1")
	port := needs.Port(t)
	c.endpoint = net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	config, err := json.Marshal(map[string]any{
		"ports":   map[string]int{"http": -1, "https": port, "dns": -1, "grpc": -1, "serf_wan": -1, "serf_lan": needs.Port(t), "server": needs.Port(t)},
		"ca_file": c.ca, "cert_file": c.cert, "key_file": c.key, "verify_incoming_https": true, "disable_update_check": true,
		"acl":         map[string]any{"enabled": true, "default_policy": "deny", "tokens": map[string]string{"master": consulAdmin, "agent": consulAdmin}},
		"performance": map[string]int{"raft_multiplier": 1}, "session_ttl_min": "1s",
	})
	if err != nil {
		t.Fatal(err)
	}
	startService(t, found[0], "agent", "-dev", "-bind=127.0.0.1", "-config-format=json", "-config-file="+writeFile(t, "agent.json", string(config)))
	told := api.DefaultConfig()
	told.Address, told.Scheme, told.Token = c.endpoint, "https", consulAdmin
	told.Transport = &http.Transport{}
	told.TLSConfig = api.TLSConfig{CAFile: c.ca, CertFile: c.cert, KeyFile: c.key}
	if c.admin, err = api.NewClient(told); err != nil {
		t.Fatal(err)
	}
	awaitService(t, func(context.Context) error { // it takes keys before it has entered itself in its catalog, and sessions only after
		session, _, err := c.admin.Session().Create(&api.SessionEntry{Name: "up"}, nil)
		if err != nil {
			return err
		}
		_, err = c.admin.Session().Destroy(session, nil)
		return err
	})
	policy, _, err := c.admin.ACL().PolicyCreate(&api.ACLPolicy{Name: "locker", Rules: `key_prefix "lockcheck/" { policy = "write" } session_prefix "" { policy = "write" }`}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for secret, policies := range map[string][]*api.ACLTokenPolicyLink{token: {{ID: policy.ID}}, powerless: nil} {
		if _, _, err := c.admin.ACL().TokenCreate(&api.ACLToken{SecretID: secret, Policies: policies}, nil); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// powerless is a token that lets its owner do nothing.
const powerless = "00000000-bbbb-4000-8000-000000000002"

func (c *consulAgent) access(t *testing.T, token string) string {
	return writeAccess(t, token, map[string]string{"ca": c.ca, "cert": c.cert, "key": c.key})
}

// keys are all that there are below a prefix, and how often each was changed.
func (c *consulAgent) keys(t *testing.T, prefix string) (all []string) {
	t.Helper()
	pairs, _, err := c.admin.KV().List(prefix, &api.QueryOptions{RequireConsistent: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pairs {
		all = append(all, consulLine(p))
	}
	return all
}

func consulLine(p *api.KVPair) string {
	return fmt.Sprintf("%s=%x made %d changed %d locked %d by %s", p.Key, p.Value, p.CreateIndex, p.ModifyIndex, p.LockIndex, p.Session)
}

// sessions are all that there are.
func (c *consulAgent) sessions(t *testing.T) (all []string) {
	t.Helper()
	list, _, err := c.admin.Session().List(&api.QueryOptions{RequireConsistent: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range list {
		all = append(all, fmt.Sprintf("%s %q %s", s.ID, s.Name, s.TTL))
	}
	slices.Sort(all)
	return all
}

// use has another program lock keys all the time.
func (c *consulAgent) use(t *testing.T) application {
	t.Helper()
	session, _, err := c.admin.Session().Create(&api.SessionEntry{Name: "application"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return use(t, func(n int) (string, error) {
		pair := &api.KVPair{Key: fmt.Sprintf("application/%06d", n), Value: fmt.Appendf(nil, "\x00value %d\xff", n), Session: session}
		if locked, _, err := c.admin.KV().Acquire(pair, nil); err != nil || !locked {
			return "", fmt.Errorf("%s: locked %v, %v", pair.Key, locked, err)
		}
		made, _, err := c.admin.KV().Get(pair.Key, nil)
		if err != nil {
			return "", err
		}
		return consulLine(made), nil
	}, func() []string { return c.keys(t, "") })
}

func TestAttachedToConsulWithACLsAndTLS(t *testing.T) {
	t.Parallel()
	const secret = "5eed91d7-ce03-4000-8000-91d7ce030001"
	agent := startConsul(t, secret)
	app := agent.use(t)
	sessions := agent.sessions(t)
	access := agent.access(t, secret)
	for _, d := range whatHoldersMeet() {
		o := disturbedRun(t, secret, d, "--backend=consul", "--attach="+agent.endpoint, "--attach-config="+access, "--set=lock-delay=0s", "--time-limit=15s")
		endsWith(t, o, o.code, "attached to consul at "+agent.endpoint, "keys below lockcheck/")
		mustPass(t, o, model.LockLinearizability, model.TokenMonotonicity)
		awaitService(t, func(context.Context) error { // that of a client that was killed, or asked while it ended, runs out by itself
			if left := agent.sessions(t); !slices.Equal(left, sessions) {
				return fmt.Errorf("sessions were %v, and are %v", sessions, left)
			}
			return nil
		})
	}
	app.found(t)
}

func TestCleanRemovesWhatAKilledRunLeftInConsul(t *testing.T) {
	t.Parallel()
	const token = "5eed91d7-ce03-4000-8000-91d7ce030002"
	agent := startConsul(t, token)
	app := agent.use(t)
	cleanAfterKill(t, []string{"--backend=consul"}, []string{"--attach=" + agent.endpoint, "--attach-config=" + agent.access(t, token)}, "removed keys below lockcheck/",
		func() int { return len(agent.keys(t, "lockcheck/")) })
	app.found(t)
}

func TestWhatConsulTurnsDown(t *testing.T) {
	t.Parallel()
	const token = "5eed91d7-ce03-4000-8000-91d7ce030003"
	agent := startConsul(t, token)
	taken := "lockcheck/" + takenPrefix + "k1"
	if _, err := agent.admin.KV().Put(&api.KVPair{Key: taken, Value: []byte("somebody's")}, nil); err != nil {
		t.Fatal(err)
	}
	before, sessions := agent.keys(t, ""), agent.sessions(t)
	member := startEtcd(t, "127.0.0.1", "")
	for name, c := range map[string]struct {
		program, endpoint, access string
		args                      []string
		code                      int
		says                      []string
	}{
		"a wrong token":       {program, agent.endpoint, agent.access(t, "00000000-cccc-4000-8000-000000000003"), nil, 64, []string{"does not let this token in", "password_file"}},
		"no right":            {program, agent.endpoint, agent.access(t, powerless), nil, 64, []string{"this token may not do that", `key_prefix "lockcheck/" write`}},
		"a username":          {program, agent.endpoint, writeAccess(t, token, map[string]string{"username": "me"}), nil, 64, []string{"knows no usernames, but tokens"}},
		"no TLS":              {program, agent.endpoint, writeAccess(t, token, nil), nil, 69, []string{"is it Consul's HTTP interface"}},
		"no certificate":      {program, agent.endpoint, writeAccess(t, token, map[string]string{"ca": agent.ca}), nil, 69, []string{"does it speak TLS"}},
		"another service":     {program, member.endpoint, writeAccess(t, token, nil), nil, 69, []string{"is it Consul's HTTP interface"}},
		"too short a TTL":     {program, agent.endpoint, agent.access(t, token), []string{"--ttl=500ms", "--set=session_ttl_min=500ms"}, 64, []string{"takes no session of 500ms", "--ttl"}},
		"a key that is there": {planted, agent.endpoint, agent.access(t, token), nil, 69, []string{"a run uses none that it did not make: " + taken}},
	} {
		t.Run(name, func(t *testing.T) {
			o := atOnce(t, c.program, append([]string{"run", "--seed=1", "--backend=consul", "--attach=" + c.endpoint, "--attach-config=" + c.access}, c.args...)...)
			endsWith(t, o, c.code, c.says...)
			empty(t, o)
		})
	}
	if after := agent.keys(t, ""); !slices.Equal(after, before) {
		t.Errorf("it was %q and is %q", before, after)
	}
	if left := agent.sessions(t); !slices.Equal(left, sessions) {
		t.Errorf("sessions were %v, and are %v", sessions, left)
	}
}
