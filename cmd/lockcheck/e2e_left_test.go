//go:build e2e

package main_test

import (
	"cmp"
	"context"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"

	"lockcheck/clusters/testkit"
)

// A run that is complete has its verdict, even if its network cannot be removed; it says what is left and how to remove it.
func TestWhatCannotBeRemovedCostsNoVerdict(t *testing.T) {
	needDocker(t)
	socket := engineThatKeeps(t, "/networks/")
	o := outcome{out: t.TempDir()}
	cmd := exec.Command(program, "run", "--backend=redis", "--provider=docker", "--nemesis=none", untilExposed, atMost, "--out="+o.out)
	cmd.Env = append(os.Environ(), "DOCKER_HOST=unix://"+socket)
	o = finish(t, cmd, o)
	if o.code != 0 || !strings.Contains(o.stdout, "PASS") {
		t.Errorf("exit %d, want 0 and a pass", o.code)
	}
	for _, say := range []string{"the run is complete, but", "kept by the test", "lockcheck clean"} {
		if !strings.Contains(o.stderr, say) {
			t.Errorf("it does not say %q", say)
		}
	}
	run := planOf(t, o).Run
	if kept, err := exec.Command("docker", "network", "ls", "-q", "--filter", "label=lockcheck.run="+run).Output(); err != nil || len(kept) == 0 {
		t.Errorf("the network was not kept (%v): nothing was tried", err)
	}
	// Its exit code is also about what other tests' runs have left.
	if said, err := exec.Command(program, "clean").CombinedOutput(); !strings.Contains(string(said), "removed network lockcheck-"+run) {
		t.Errorf("lockcheck clean: %v\n%s", err, said)
	}
	nothingLeft(t, o)
}

// engineThatKeeps is the engine behind a socket of the test's own, which refuses to remove what lies at a path once a
// container was started.
func engineThatKeeps(t *testing.T, path string) (socket string) {
	t.Helper()
	at, err := url.Parse(cmp.Or(os.Getenv("DOCKER_HOST"), "unix:///var/run/docker.sock"))
	if err != nil {
		t.Fatal(err)
	}
	engine := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(&url.URL{Scheme: "http", Host: "engine"}) },
		Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, at.Scheme, at.Host+at.Path)
		}},
		FlushInterval: -1,
	}
	socket = testkit.Socket(t)
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	var started atomic.Bool
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/start") {
			started.Store(true)
		}
		if started.Load() && r.Method == http.MethodDelete && strings.Contains(r.URL.Path, path) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusInternalServerError)
			_, _ = w.Write([]byte(`{"message":"kept by the test"}`))
			return
		}
		engine.ServeHTTP(w, r)
	})}
	go func() { _ = server.Serve(l) }()
	t.Cleanup(func() { server.Close() })
	return socket
}
