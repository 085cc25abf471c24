package campaign

import (
	"encoding/pem"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lockcheck/clusters"
)

func configured(t *testing.T, text string) (*API, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("KUBECONFIG", filepath.Join(filepath.Dir(file), "none")+string(filepath.ListSeparator)+file)
	return Connect()
}

// credential is what a program gives that is asked for credentials.
const credential = `{"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": {"token": "t2"}}`

// Over TLS, with the server's certificate in a file beside the kubeconfig.
func TestConnectShowsWhoOneIs(t *testing.T) {
	var got string
	server := httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = r.Header.Get("Authorization") }))
	defer server.Close()
	dir := t.TempDir()
	ca := filepath.Join(dir, "ca.crt")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	put(t, dir, map[string]string{"token": "from-a-file\n"})
	for name, c := range map[string]struct{ user, want string }{
		"a token":           {"{token: t1}", "Bearer t1"},
		"a file of a token": {"{tokenFile: " + dir + "/token}", "Bearer from-a-file"},
		"a password":        {"{username: u, password: p}", "Basic dTpw"},
		"a program":         {`{exec: {apiVersion: client.authentication.k8s.io/v1, interactiveMode: IfAvailable, command: sh, args: [-c, 'echo "$INFO"'], env: [{name: INFO, value: '` + credential + `'}]}}`, "Bearer t2"},
	} {
		api, err := configured(t, "current-context: c\ncontexts: [{name: c, context: {cluster: k, user: u, namespace: team}}]\n"+
			"clusters: [{name: k, cluster: {server: '"+server.URL+"', certificate-authority: "+ca+"}}]\nusers: [{name: u, user: "+c.user+"}]\n")
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if err := api.call(t.Context(), "GET", "/", nil, nil, nil); err != nil || got != c.want || api.Namespace != "team" {
			t.Errorf("%s: %q in namespace %q, %v; want %q", name, got, api.Namespace, err, c.want)
		}
	}
}

// As kubectl merges the files of KUBECONFIG: the first entry of a name counts, whole, and paths begin beside the file that has them.
func TestFilesOfKubeconfigAreMerged(t *testing.T) {
	var got string
	server := httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = r.Header.Get("Authorization") }))
	defer server.Close()
	first, second := t.TempDir(), t.TempDir()
	put(t, first, map[string]string{"config": "contexts: [{name: c, context: {cluster: k, user: u}}]\nusers: [{name: other, user: {token: t1}}]\n"})
	put(t, second, map[string]string{
		"ca.crt": string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})),
		"token":  "beside-the-second\n",
		"config": "current-context: c\ncontexts: [{name: c, context: {cluster: none, user: none, namespace: team}}]\n" +
			"clusters: [{name: k, cluster: {server: '" + server.URL + "', certificate-authority: ca.crt}}]\nusers: [{name: u, user: {tokenFile: token}}]\n",
		"later": "current-context: none\nusers: [{name: u, user: {token: t3}}]\n",
	})
	files := []string{first + "/config", second + "/absent", second + "/config", second + "/later"}
	t.Setenv("KUBECONFIG", strings.Join(files, string(filepath.ListSeparator)))
	api, err := Connect()
	if err != nil {
		t.Fatal(err)
	}
	if err := api.call(t.Context(), "GET", "/", nil, nil, nil); err != nil || got != "Bearer beside-the-second" || api.Namespace != "default" {
		t.Errorf("%q in namespace %q, %v", got, api.Namespace, err)
	}
	t.Setenv("KUBECONFIG", strings.Join(files[:2], string(filepath.ListSeparator)))
	if _, err := Connect(); !errors.Is(err, clusters.ErrUsage) || !strings.Contains(err.Error(), "current-context") {
		t.Errorf("without a current context: %v", err)
	}
}

// A pod that answers with a redirect to another path of the API server must not have it asked with our credentials.
func TestNoRedirectIsFollowed(t *testing.T) {
	var followed bool
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/elsewhere" {
			followed = true
			return
		}
		http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
	}))
	defer server.Close()
	api, err := configured(t, "current-context: c\ncontexts: [{name: c, context: {cluster: k, user: u}}]\nclusters: [{name: k, cluster: {server: '"+server.URL+"'}}]\nusers: [{name: u, user: {token: t}}]\n")
	if err != nil {
		t.Fatal(err)
	}
	if err := api.callPod(t.Context(), "/fetched", "secret"); !hasCode(err, http.StatusTemporaryRedirect) || followed {
		t.Errorf("%v, followed: %v", err, followed)
	}
}

// Credentials that have run out are asked for anew, and what was refused with them is sent again.
func TestExpiredCredentialsAreRenewed(t *testing.T) {
	var got []string
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = append(got, r.Header.Get("Authorization")+" "+string(body))
		if r.Header.Get("Authorization") != "Bearer t2" {
			w.WriteHeader(http.StatusUnauthorized)
		}
	}))
	defer server.Close()
	dir := t.TempDir()
	put(t, dir, map[string]string{"now": strings.Replace(credential, "t2", "t1", 1), "next": credential})
	api, err := configured(t, "current-context: c\ncontexts: [{name: c, context: {cluster: k, user: u}}]\nclusters: [{name: k, cluster: {server: '"+server.URL+"', insecure-skip-tls-verify: true}}]\n"+
		"users: [{name: u, user: {exec: {apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, command: sh, args: [-c, 'cd "+dir+" && cat now && cp next now']}}}]\n")
	if err != nil {
		t.Fatal(err)
	}
	if err := api.call(t.Context(), "POST", "/", nil, "x", nil); err != nil || !slices.Equal(got, []string{`Bearer t1 "x"`, `Bearer t2 "x"`}) {
		t.Errorf("%q, %v", got, err)
	}
}

// The program of a kubeconfig that gives credentials does not: no API server is away, so that waiting for it would be in vain.
func TestCredentialsThatCannotBeHadAreNotWaitedFor(t *testing.T) {
	api, err := configured(t, "current-context: c\ncontexts: [{name: c, context: {cluster: k, user: u}}]\nclusters: [{name: k, cluster: {server: 'https://127.0.0.1:1'}}]\n"+
		"users: [{name: u, user: {exec: {apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, command: sh, args: [-c, exit 3]}}}]\n")
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := api.Find(t.Context(), "n", "x", patient(t)); !errors.Is(err, clusters.ErrUnavailable) || !strings.Contains(err.Error(), "sh failed with exit code 3") {
		t.Errorf("%v", err)
	}
}

func TestKubeconfigsThatCannotBeUsed(t *testing.T) {
	for name, c := range map[string]struct {
		text, want string
		is         error
	}{
		"no YAML":                  {"a: [", "error loading config file", clusters.ErrUsage},
		"no context":               {"clusters: [{name: k, cluster: {server: 'https://x'}}]", "current-context", clusters.ErrUsage},
		"a context that is absent": {"current-context: c", `no context "c"`, clusters.ErrUsage},
		"a cluster that is absent": {"current-context: c\ncontexts: [{name: c, context: {cluster: k}}]", `no cluster "k"`, clusters.ErrUsage},
		"a user that is absent":    {"current-context: c\ncontexts: [{name: c, context: {cluster: k, user: u}}]\nclusters: [{name: k, cluster: {server: 'https://x'}}]", `no user "u"`, clusters.ErrUsage},
		"a server that is no URL":  {"current-context: c\ncontexts: [{name: c, context: {cluster: k}}]\nclusters: [{name: k, cluster: {server: 'x'}}]", "no URL", clusters.ErrUsage},
		"a certificate that is none": {"current-context: c\ncontexts: [{name: c, context: {cluster: k}}]\nclusters: [{name: k, cluster: {server: 'https://x', certificate-authority-data: eA==}}]",
			"root certificates", clusters.ErrUsage},
		"a namespace that is a path": {"current-context: c\ncontexts: [{name: c, context: {cluster: k, namespace: ../../x}}]\nclusters: [{name: k, cluster: {server: 'https://x'}}]", "namespace", clusters.ErrUsage},
		"auth-provider": {"current-context: c\ncontexts: [{name: c, context: {cluster: k, user: u}}]\nclusters: [{name: k, cluster: {server: 'https://x'}}]\nusers: [{name: u, user: {auth-provider: {name: gcp}}}]",
			"Auth Provider", clusters.ErrUsage},
		"a token that is absent": {"current-context: c\ncontexts: [{name: c, context: {cluster: k, user: u}}]\nclusters: [{name: k, cluster: {server: 'https://x'}}]\nusers: [{name: u, user: {tokenFile: none}}]",
			"none: no such file", clusters.ErrUsage},
	} {
		if _, err := configured(t, c.text); !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want %q", name, err, c.want)
		}
	}
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	if _, err := configured(t, ""); !errors.Is(err, clusters.ErrUnavailable) || !strings.Contains(err.Error(), "KUBECONFIG") {
		t.Errorf("without any cluster: %v", err)
	}
}

func TestOptionsThatCannotBe(t *testing.T) {
	good := Options{Image: "r.example/lockcheck:1", Parallel: 2, CPU: "500m", Memory: "1.5Gi"}
	if err := good.Check(); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(*Options){
		"--image is needed": func(o *Options) { o.Image = "" },
		"--image=a b":       func(o *Options) { o.Image = "a b" },
		"--parallel=0":      func(o *Options) { o.Parallel = 0 },
		"--cpu=two":         func(o *Options) { o.CPU = "two" },
		"--cpu=0":           func(o *Options) { o.CPU = "0" },
		"--memory=lots":     func(o *Options) { o.Memory = "lots" },
	} {
		o := good
		change(&o)
		if err := o.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %q", err, want)
		}
	}
}
