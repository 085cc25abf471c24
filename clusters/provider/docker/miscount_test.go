package docker

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/docker/docker/client"

	"lockcheck/clusters"
)

// Only an engine that contradicts itself is said to miscount.
func TestAMiscountIsTheEnginesOwnContradiction(t *testing.T) {
	refused := errors.New("error while removing network: network x has active endpoints")
	for name, c := range map[string]struct {
		err    error
		inside string
		want   bool
	}{
		"refused, nothing inside":       {refused, `{}`, true},
		"refused, a container inside":   {refused, `{"5f": {"Name": "c1"}}`, false},
		"refused for another reason":    {errors.New("permission denied"), `{}`, false},
		"removed":                       {nil, `{}`, false},
		"refused, and asking fails too": {refused, `no JSON`, false},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				fmt.Fprintf(w, `{"Id": "x", "Containers": %s}`, c.inside)
			}))
			defer server.Close()
			engine, err := client.NewClientWithOpts(client.WithHost("tcp://"+server.Listener.Addr().String()), client.WithVersion("1.41"))
			if err != nil {
				t.Fatal(err)
			}
			defer engine.Close()
			if got := explained(t.Context(), engine, "x", c.err); errors.Is(got, clusters.ErrMiscounted) != c.want || !errors.Is(got, c.err) {
				t.Errorf("%v, want a miscount: %v", got, c.want)
			}
		})
	}
}

// What else went wrong in a sweep is not excused by a miscount.
func TestAMiscountExcusesNothingElse(t *testing.T) {
	miscount, other := fmt.Errorf("remove network x: %w", clusters.ErrMiscounted), errors.New("remove volume y: in use")
	for name, c := range map[string]struct {
		errs     []error
		miscount bool
	}{
		"nothing":       {[]error{nil, nil}, false},
		"one":           {[]error{nil, miscount}, true},
		"two":           {[]error{miscount, miscount}, true},
		"beside others": {[]error{miscount, other}, false},
		"another":       {[]error{other}, false},
	} {
		got := joined(slices.Clone(c.errs))
		if errors.Is(got, clusters.ErrMiscounted) != c.miscount {
			t.Errorf("%s: %v is taken for a miscount: %v", name, got, !c.miscount)
		}
		for _, err := range c.errs {
			if err != nil && !strings.Contains(got.Error(), err.Error()) {
				t.Errorf("%s: %v is not told of in %v", name, err, got)
			}
		}
	}
}

// A network that the engine does not remove is the engine's, not a defect of lockcheck's, and its words are passed on.
func TestASweepThatTheEngineRefusesIsNotADefect(t *testing.T) {
	const reason = "error while removing network: network n has active endpoints"
	old := fmt.Sprintf(`{"Id": "n", "Name": "theirs", "Containers": {}, "Labels": {%q: "r", %q: "another/1/1", %q: "2020-01-01T00:00:00Z"}}`, labelRun, labelOwner, labelSince)
	fake := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("API-Version", oldestAPI)
		w.Header().Set("Content-Type", "application/json")
		switch {
		case r.Method == http.MethodDelete:
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprintf(w, `{"message":%q}`, reason)
		case strings.HasSuffix(r.URL.Path, "/networks"):
			fmt.Fprintf(w, "[%s]", old)
		case strings.HasSuffix(r.URL.Path, "/networks/n"):
			fmt.Fprintln(w, old)
		case strings.HasSuffix(r.URL.Path, "/json"):
			fmt.Fprintln(w, "[]")
		default:
			fmt.Fprintln(w, "{}")
		}
	}))
	defer fake.Close()
	t.Setenv(client.EnvOverrideHost, "tcp://"+fake.Listener.Addr().String())
	removed, err := Sweep(t.Context())
	if len(removed) > 0 || !errors.Is(err, clusters.ErrUnavailable) || !errors.Is(err, clusters.ErrMiscounted) || !strings.Contains(err.Error(), "remove network theirs: ") || !strings.Contains(err.Error(), reason) {
		t.Errorf("removed %v: %v", removed, err)
	}
}
