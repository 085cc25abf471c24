//go:build linux

package docker

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/docker/docker/client"

	"lockcheck/clusters"
)

// pullingEngine answers as an engine does that has no image and is asked to pull one. What it says of the pull was taken
// from a real one's answers; a full disk and a registry cannot be had in a test.
func pullingEngine(t *testing.T, said ...string) *client.Client {
	t.Helper()
	fake := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("API-Version", oldestAPI)
		switch {
		case strings.HasSuffix(r.URL.Path, "/_ping"):
		case strings.HasSuffix(r.URL.Path, "/images/create"):
			fmt.Fprintln(w, strings.Join(said, "\n"))
		default:
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprintln(w, `{"message":"No such image: some/where:1"}`)
		}
	}))
	t.Cleanup(fake.Close)
	t.Setenv(client.EnvOverrideHost, "tcp://"+fake.Listener.Addr().String())
	engine, err := connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { engine.Close() })
	return engine
}

// The engine answers 200 and reports a failure among the lines of progress.
func TestAPullThatFails(t *testing.T) {
	for name, c := range map[string]struct{ said, want string }{
		"disk full": {
			`{"error":"failed to register layer: Error processing tar file(exit status 1): write /usr/lib/x: no space left on device"}`,
			"the engine's disk is full: make room",
		},
		"refused":    {`{"error":"unauthorized: authentication required"}`, "unauthorized: authentication required"},
		"broken off": {`{"status":"Downl`, "the engine's answer broke off"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("LOCKCHECK_IMAGE_REDIS", "")
			engine := pullingEngine(t, `{"status":"Pulling from some/where","id":"1"}`,
				`{"status":"Downloading","progressDetail":{"current":1048576,"total":2097152},"id":"abc"}`, c.said)
			var progress bytes.Buffer
			_, err := findServerImage(t.Context(), engine, clusters.Software{Backend: "redis", Image: "some/where:1", InImage: []string{"redis-server"}}, "", nil, &progress)
			if !errors.Is(err, clusters.ErrUnavailable) {
				t.Fatalf("got %v", err)
			}
			for _, want := range []string{c.want, "some/where:1", "the official image"} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("no %q in: %v", want, err)
				}
			}
			if !strings.Contains(progress.String(), "pulling some/where:1") {
				t.Errorf("progress: %q", progress.String())
			}
		})
	}
}

func TestAnEngineThatIsTooOldIsRefused(t *testing.T) {
	old := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("API-Version", "1.39") }))
	defer old.Close()
	t.Setenv(client.EnvOverrideHost, "tcp://"+old.Listener.Addr().String())
	_, err := connect(t.Context())
	if !errors.Is(err, clusters.ErrUnavailable) || !strings.Contains(err.Error(), "1.39") || !strings.Contains(err.Error(), oldestAPI) {
		t.Errorf("got %v", err)
	}
}

func TestWhoChoosesTheImage(t *testing.T) {
	software := clusters.Software{Backend: "redis", Image: "official:1"}
	for name, c := range map[string]struct{ asked, env, want, chosen string }{
		"no choice":    {"", "", "official:1", "the official image"},
		"the variable": {"", "mine:1", "mine:1", "LOCKCHECK_IMAGE_REDIS"},
		"the flag":     {"asked:1", "mine:1", "asked:1", "--image"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("LOCKCHECK_IMAGE_REDIS", c.env)
			if got, chosen := imageName(software, c.asked); got != c.want || chosen != c.chosen {
				t.Errorf("got %s, chosen by %s", got, chosen)
			}
		})
	}
}
