//go:build linux

package docker

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/docker/docker/client"

	"lockcheck/clusters"
)

func TestNoEngine(t *testing.T) {
	for name, host := range map[string]string{
		"no socket": "unix:///nonexistent", "refused": "tcp://127.0.0.1:1", "not an address": "nonsense",
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(client.EnvOverrideHost, host)
			_, err := (&Provider{}).Open(t.Context(), clusters.SiteSpec{Run: "none", LogDir: t.TempDir()})
			if !errors.Is(err, clusters.ErrUnavailable) {
				t.Fatalf("got %v", err)
			}
			for _, want := range []string{host, "DOCKER_HOST", "--provider=local"} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("no %q in: %v", want, err)
				}
			}
			if _, err := Sweep(t.Context()); !errors.Is(err, clusters.ErrUnavailable) {
				t.Errorf("sweeping an engine that is named and does not answer: %v", err)
			}
		})
	}
}

func TestWhatTheDockerCommandWouldFindIsNamed(t *testing.T) {
	t.Setenv(client.EnvOverrideHost, "")
	dir := t.TempDir()
	t.Setenv("DOCKER_CONFIG", dir)
	for name, c := range map[string]struct{ variable, config, want string }{
		"no context":     {"", "{}", ""},
		"the default":    {"default", `{"currentContext":"mine"}`, ""},
		"a variable":     {"theirs", `{"currentContext":"mine"}`, `the engine of "theirs"`},
		"the config":     {"", `{"auths":{},"currentContext":"mine"}`, `the engine of "mine"`},
		"a broken one":   {"", `{"currentContext":`, ""},
		"of another day": {"", `[]`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("DOCKER_CONTEXT", c.variable)
			if err := os.WriteFile(filepath.Join(dir, "config.json"), []byte(c.config), 0o600); err != nil {
				t.Fatal(err)
			}
			if got := contextHint(); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
				t.Errorf("got %q", got)
			}
		})
	}
	t.Setenv("DOCKER_CONTEXT", "theirs")
	t.Setenv(client.EnvOverrideHost, "tcp://127.0.0.1:1")
	if got := contextHint(); got != "" {
		t.Errorf("DOCKER_HOST is set, and: %s", got)
	}
	t.Setenv(client.EnvOverrideHost, "ssh://somewhere")
	if _, err := connect(t.Context()); !errors.Is(err, clusters.ErrUnavailable) || !strings.Contains(err.Error(), "ssh -nNT") {
		t.Errorf("over ssh: %v", err)
	}
}

// What an engine refuses, for any reason, is no defect of lockcheck's.
func TestAnEngineThatRefusesIsNotADefect(t *testing.T) {
	arch := runtime.GOARCH
	for kernel, name := range goArch {
		if name == arch {
			arch = kernel
		}
	}
	const reason = "could not find an available, non-overlapping IPv4 address pool among the defaults to assign to the network"
	fake := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("API-Version", oldestAPI)
		w.Header().Set("Content-Type", "application/json")
		switch {
		case strings.HasSuffix(r.URL.Path, "/_ping"), strings.Contains(r.URL.Path, "/images/"):
			fmt.Fprintln(w, "{}")
		case strings.HasSuffix(r.URL.Path, "/info"):
			fmt.Fprintf(w, `{"OSType":%q,"Architecture":%q,"NCPU":1}`, runtime.GOOS, arch)
		case strings.HasSuffix(r.URL.Path, "/networks/create"):
			w.WriteHeader(http.StatusNotFound) // as engines do
			fmt.Fprintf(w, `{"message":%q}`, reason)
		case strings.HasSuffix(r.URL.Path, "/volumes"):
			fmt.Fprintln(w, "{}")
		default:
			fmt.Fprintln(w, "[]")
		}
	}))
	defer fake.Close()
	t.Setenv(client.EnvOverrideHost, "tcp://"+fake.Listener.Addr().String())
	_, err := (&Provider{}).Open(t.Context(), clusters.SiteSpec{Run: "none", LogDir: t.TempDir()})
	if !errors.Is(err, clusters.ErrUnavailable) || !strings.Contains(err.Error(), reason) {
		t.Errorf("got %v", err)
	}
}

func TestASubnetRunsOut(t *testing.T) {
	n := &privateNetwork{subnet: netip.MustParsePrefix("10.9.9.0/29"), last: netip.MustParsePrefix("10.9.9.1/32").Addr()}
	var given []string
	for {
		addr, err := n.next()
		if err != nil {
			break
		}
		given = append(given, addr.String())
	}
	if want := "10.9.9.2 10.9.9.3 10.9.9.4 10.9.9.5 10.9.9.6"; strings.Join(given, " ") != want {
		t.Errorf("got %v, want %s", given, want)
	}
}
