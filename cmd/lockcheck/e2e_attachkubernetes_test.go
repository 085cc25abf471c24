//go:build e2e

package main_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"testing"

	"lockcheck/checker/model"
	"lockcheck/clusters"
	"lockcheck/clusters/backend/kubernetes"
	"lockcheck/clusters/testkit/needs"
)

// apiServer is a Kubernetes API server that a test started, and the etcd member that keeps its data.
type apiServer struct {
	endpoint, ca, cert, key string
	behind                  *etcdMember
	http                    *http.Client
}

// startKubernetes starts a server with RBAC, where a user with a token and one with a certificate may use Leases in the namespace shared,
// and nothing else.
func startKubernetes(t *testing.T, token string) *apiServer {
	t.Helper()
	found, err := kubernetes.Backend{}.Software().OnMachine(clusters.ServerPaths{})
	if err != nil {
		skip(t, "%v", err)
	}
	k := &apiServer{behind: startEtcd(t, "127.0.0.1", "")}
	k.ca, k.cert, k.key = certificates(t, "127.0.0.1")
	port := strconv.Itoa(needs.Port(t))
	k.endpoint = net.JoinHostPort("127.0.0.1", port)
	signing := signingKey(t)
	startService(t, found[0], append(found[1:len(found):len(found)],
		"--etcd-servers=http://"+k.behind.endpoint, "--bind-address=127.0.0.1", "--advertise-address=127.0.0.1", "--secure-port="+port,
		"--tls-cert-file="+k.cert, "--tls-private-key-file="+k.key, "--client-ca-file="+k.ca,
		"--service-account-issuer=https://test", "--service-account-key-file="+signing, "--service-account-signing-key-file="+signing,
		"--token-auth-file="+writeFile(t, "tokens.csv", "of-the-test,admin,1,system:masters\n"+token+",locker,2\npowerless,nobody,3\n"),
		"--authorization-mode=RBAC", "--anonymous-auth=false",
		"--service-cluster-ip-range=10.96.0.0/24", "--endpoint-reconciler-type=none", "--disable-admission-plugins=ServiceAccount")...)
	k.http = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	awaitService(t, func(ctx context.Context) error { return k.ask(ctx, http.MethodGet, "/readyz", nil) })
	const rbac = "/apis/rbac.authorization.k8s.io/v1/namespaces/shared/"
	for _, made := range []struct {
		path string
		what map[string]any
	}{
		{"/api/v1/namespaces", map[string]any{"metadata": map[string]any{"name": "shared"}}},
		{rbac + "roles", map[string]any{
			"metadata": map[string]any{"name": "locker"},
			"rules":    []any{map[string]any{"apiGroups": []string{"coordination.k8s.io"}, "resources": []string{"leases"}, "verbs": []string{"get", "create", "update", "patch", "delete"}}},
		}},
		{rbac + "rolebindings", map[string]any{
			"metadata": map[string]any{"name": "locker"},
			"roleRef":  map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "locker"},
			"subjects": []any{user("locker"), user("root")}, // root is in the certificates
		}},
	} {
		if err := k.ask(t.Context(), http.MethodPost, made.path, made.what); err != nil {
			t.Fatal(err)
		}
	}
	return k
}

// signingKey is one with which the server signs what no client asks for.
func signingKey(t *testing.T) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return writeFile(t, "signing.pem", string(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der})))
}

func user(name string) map[string]any {
	return map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": name}
}

// ask asks as an administrator.
func (k *apiServer) ask(ctx context.Context, method, path string, body any) error {
	content, err := json.Marshal(body)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, method, "https://"+k.endpoint+path, bytes.NewReader(content))
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer of-the-test")
	req.Header.Set("Content-Type", "application/json")
	resp, err := k.http.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode/100 != 2 {
		err = fmt.Errorf("%s %s: %s: %s", method, path, resp.Status, text)
	}
	return err
}

// leases are those of the shared namespace, or those whose names begin so, as etcd has them, byte for byte.
func (k *apiServer) leases(t *testing.T, name string) []string {
	t.Helper()
	return k.behind.keys(t, "/registry/leases/shared/"+name)
}

func (k *apiServer) makeLease(ctx context.Context, name string) error {
	return k.ask(ctx, http.MethodPost, "/apis/coordination.k8s.io/v1/namespaces/shared/leases",
		map[string]any{"metadata": map[string]any{"name": name}, "spec": map[string]any{"holderIdentity": "another program"}})
}

// use has another program make Leases all the time.
func (k *apiServer) use(t *testing.T) application {
	t.Helper()
	return use(t, func(n int) (string, error) {
		name := fmt.Sprintf("application-%06d", n)
		if err := k.makeLease(t.Context(), name); err != nil {
			return "", err
		}
		return k.leases(t, name)[0], nil
	}, func() []string { return k.leases(t, "") })
}

// A server takes long to start: one is asked all that there is to ask, in turn.
func TestAttachedToKubernetes(t *testing.T) {
	t.Parallel()
	const secret = "planted-3f77b0c8"
	server := startKubernetes(t, secret)
	app := server.use(t)
	access := func(password string, words ...string) string {
		all := map[string]string{"ca": server.ca, "namespace": "shared"}
		for i := 0; i < len(words); i += 2 {
			all[words[i]] = words[i+1]
		}
		return writeAccess(t, password, all)
	}
	for _, c := range []struct {
		fault  disturbance
		access string
	}{
		{pauseHolder, access(secret)},
		{cutOffHolder, access("", "cert", server.cert, "key", server.key)},
	} {
		o := disturbedRun(t, secret, c.fault, "--backend=kubernetes", "--attach="+server.endpoint, "--attach-config="+c.access, "--time-limit=8s")
		endsWith(t, o, o.code, "attached to kubernetes at "+server.endpoint, "Leases in the namespace shared whose names begin with lockcheck-")
		mustPass(t, o, model.TokenMonotonicity)
	}
	cleanAfterKill(t, []string{"--backend=kubernetes"}, []string{"--attach=" + server.endpoint, "--attach-config=" + access(secret)}, "removed Leases in the namespace shared",
		func() int { return len(server.leases(t, "lockcheck-")) })
	app.found(t)

	taken := "lockcheck-20260102-0123abcd.k1"
	if err := server.makeLease(t.Context(), taken); err != nil {
		t.Fatal(err)
	}
	before := server.leases(t, "")
	another, _, _ := certificates(t, "127.0.0.1")
	for name, c := range map[string]struct {
		program, endpoint, access string
		code                      int
		says                      []string
	}{
		"a wrong token":         {program, server.endpoint, access("wrong"), 64, []string{"does not let this user in", "password_file"}},
		"no right":              {program, server.endpoint, access("powerless"), 64, []string{"this user may not do that", "in the namespace shared"}},
		"another namespace":     {program, server.endpoint, access(secret, "namespace", "default"), 64, []string{"this user may not do that"}},
		"no such namespace":     {program, server.endpoint, access("of-the-test", "namespace", "none"), 64, []string{"has no namespace none"}},
		"a username":            {program, server.endpoint, access(secret, "username", "me"), 64, []string{"knows no usernames, but tokens"}},
		"another authority":     {program, server.endpoint, access(secret, "ca", another), 69, []string{"unknown authority"}},
		"another service":       {program, server.behind.endpoint, access(secret), 69, []string{"is it an API server"}},
		"a Lease that is there": {planted, server.endpoint, access(secret), 69, []string{"a run uses none that it did not make: " + taken}},
	} {
		t.Run(name, func(t *testing.T) {
			o := atOnce(t, c.program, "run", "--seed=1", "--backend=kubernetes", "--attach="+c.endpoint, "--attach-config="+c.access)
			endsWith(t, o, c.code, c.says...)
			empty(t, o)
		})
	}
	if after := server.leases(t, ""); !slices.Equal(after, before) {
		t.Errorf("it was %q and is %q", before, after)
	}
}
