package consul

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"lockcheck/clusters/client"
	"lockcheck/clusters/testkit/clientkit"
)

// asked is a server that refuses every login, and keeps what it was asked.
type asked struct {
	*httptest.Server
	mu       sync.Mutex
	requests []*http.Request
}

func newAsked(t *testing.T, answer http.HandlerFunc) *asked {
	t.Helper()
	a := &asked{}
	a.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a.mu.Lock()
		a.requests = append(a.requests, r)
		a.mu.Unlock()
		answer(w, r)
	}))
	t.Cleanup(a.Close)
	return a
}

func (a *asked) all() []*http.Request {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.requests
}

func denied(w http.ResponseWriter, _ *http.Request) {
	http.Error(w, "Permission denied", http.StatusForbidden)
}

// refusedBy has a client ask such a server for a lock.
func refusedBy(t *testing.T, a *asked, options map[string]string) []*http.Request {
	t.Helper()
	init := client.Init{Name: "c1", Endpoints: []string{a.Listener.Addr().String()}, TTLMS: ttl.Milliseconds(), Options: options}
	lock, _, _ := clientkit.Client(t, newLocks, init)
	if _, err := lock.Acquire(t.Context(), "k", false); err == nil {
		t.Fatal("granted")
	}
	if len(a.all()) == 0 {
		t.Fatal("it was asked nothing")
	}
	return a.all()
}

// What the environment says to Consul's own programs was meant for another place than that of a run.
func TestNothingOfTheEnvironmentIsSent(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte("of-the-file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	environment := map[string]string{
		"CONSUL_HTTP_ADDR": "https://127.0.0.1:1/prefix", "CONSUL_HTTP_SSL": "true", "CONSUL_HTTP_TOKEN": "of-the-environment", "CONSUL_HTTP_AUTH": "me:secret",
		"CONSUL_NAMESPACE": "elsewhere", "CONSUL_PARTITION": "elsewhere", "CONSUL_CACERT": "/none", "CONSUL_CLIENT_CERT": "/none", "CONSUL_CLIENT_KEY": "/none",
	}
	for name, more := range map[string]map[string]string{
		"a token":                {},
		"a file":                 {"CONSUL_HTTP_TOKEN_FILE": file},
		"a file that is missing": {"CONSUL_HTTP_TOKEN_FILE": "/none"},
	} {
		for _, token := range []string{"", "of-the-run", "of-the-environment"} {
			t.Run(name+" and "+token, func(t *testing.T) {
				for _, variables := range []map[string]string{environment, more} {
					for name, value := range variables {
						t.Setenv(name, value)
					}
				}
				for _, r := range refusedBy(t, newAsked(t, denied), map[string]string{client.OptionAttached: "yes", client.OptionPassword: token}) {
					if r.Header.Get(tokenHeader) != token || r.Header.Get("Authorization") != "" || strings.Contains(r.URL.String(), "elsewhere") || !strings.HasPrefix(r.URL.Path, "/v1/") {
						t.Errorf("%s %s with %v", r.Method, r.URL, r.Header)
					}
				}
			})
		}
	}
}

func TestATokenGoesNowhereByAProxyOrARedirection(t *testing.T) {
	elsewhere := newAsked(t, denied)
	refusedBy(t, newAsked(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, elsewhere.URL+r.URL.String(), http.StatusTemporaryRedirect)
	}), map[string]string{client.OptionAttached: "yes", client.OptionPassword: "of-the-run"})
	if asked := elsewhere.all(); len(asked) > 0 {
		t.Errorf("it was followed, with %v", asked[0].Header)
	}
	lock, _, err := newLocks(t.Context(), client.Init{Endpoints: []string{"127.0.0.1:1"}, TTLMS: ttl.Milliseconds()}, clientkit.NewWatched())
	if err != nil {
		t.Fatal(err)
	}
	if lock.(*locks).base.(as).RoundTripper.(*http.Transport).Proxy != nil {
		t.Error("it asks by the proxy that the environment names")
	}
}

// A session whose TTL a server did not take would stay for ever.
func TestASessionThatIsTriedIsEndedWhateverItsTTL(t *testing.T) {
	server := newAsked(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasPrefix(r.URL.Path, "/v1/session/create"):
			_, _ = w.Write([]byte(`{"ID": "s"}`))
		case strings.HasPrefix(r.URL.Path, "/v1/session/info/"):
			_, _ = w.Write([]byte(`[{"TTL": ""}]`))
		}
	})
	err := (&node{http: server.Client(), base: server.URL}).trySession(t.Context(), ttl)
	all := server.all()
	if err == nil || all[len(all)-1].URL.Path != "/v1/session/destroy/s" {
		t.Errorf("%v, and the last request was %s", err, all[len(all)-1].URL)
	}
}
