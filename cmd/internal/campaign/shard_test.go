package campaign

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestAPodServesWhenItIsDoneAndToThoseWhoKnowTheToken(t *testing.T) {
	s := &shardServer{dir: t.TempDir(), token: "secret", fetched: make(chan struct{})}
	handler := s.handler()
	ask := func(method, path, token string) int {
		r := httptest.NewRequest(method, path, nil)
		r.Header.Set(tokenHeader, token)
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		return w.Code
	}
	for _, c := range []struct {
		name                string
		done                bool
		method, path, token string
		want                int
	}{
		{"is not ready", false, "GET", "/ready", "", http.StatusServiceUnavailable},
		{"has no results yet", false, "GET", "/results", "secret", http.StatusServiceUnavailable},
		{"cannot have been fetched yet", false, "POST", "/fetched", "secret", http.StatusServiceUnavailable},
		{"is ready", true, "GET", "/ready", "", http.StatusOK},
		{"gives a stranger nothing", true, "GET", "/results", "guess", http.StatusForbidden},
		{"believes no stranger", true, "POST", "/fetched", "", http.StatusForbidden},
		{"gives its results", true, "GET", "/results", "secret", http.StatusOK},
		{"gives them again", true, "GET", "/results", "secret", http.StatusOK},
		{"hears that they were fetched", true, "POST", "/fetched", "secret", http.StatusNoContent},
		{"hears it twice", true, "POST", "/fetched", "secret", http.StatusNoContent},
	} {
		if c.done {
			s.outcome.CompareAndSwap(nil, &Outcome{Shard: 1})
		}
		if got := ask(c.method, c.path, c.token); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
	s.token = "" // of a pod that nobody's Job made
	if got := ask("GET", "/results", ""); got != http.StatusForbidden {
		t.Errorf("without any token: %d", got)
	}
	select {
	case <-s.fetched:
	default:
		t.Error("it was not told that its results were fetched")
	}
}

func TestAnIndexIsRunAgainForItsResultsOnlySoOften(t *testing.T) {
	for failures, want := range map[string]bool{"": false, "0": true, "1": true, "2": false, "7": false} {
		if t.Setenv(envFailures, failures); MayRunAgain() != want {
			t.Errorf("after %q failures: %v, want %v", failures, MayRunAgain(), want)
		}
	}
}
