package consul

import (
	"errors"
	"net/http"
	"net/url"
	"testing"

	"lockcheck/checker/history"
	"lockcheck/clusters/client"
	"lockcheck/clusters/testkit"
	"lockcheck/clusters/testkit/clientkit"
)

func TestWhichAnswersAreDefinite(t *testing.T) {
	for name, test := range map[string]struct {
		x       exchange
		refused bool
	}{
		"the session is gone":                  {exchange{status: 500, body: []byte(`raft apply failed: invalid session "b52c"`)}, true},
		"no leader":                            {exchange{status: 500, body: []byte("No cluster leader")}, true},
		"no leader, says the one asked":        {exchange{status: 500, body: []byte("rpc error making call: No cluster leader")}, true},
		"asked of one that leads no more":      {exchange{status: 500, body: []byte("raft apply failed: node is not the leader")}, true},
		"no way to the leader":                 {exchange{status: 500, body: []byte("rpc error getting client: failed to get conn: dial tcp 10.0.0.2:8300: connect: connection refused")}, true},
		"no connection":                        {exchange{err: errors.New("connect: connection refused")}, true},
		"the leader lost its place in between": {exchange{status: 500, body: []byte("raft apply failed: leadership lost while committing log")}, false},
		"the leader did not answer":            {exchange{status: 500, body: []byte("rpc error making call: EOF")}, false},
		"another error":                        {exchange{status: 500, body: []byte("something else")}, false},
		"no answer":                            {exchange{sent: true, err: errors.New("EOF")}, false},
		"it was done":                          {exchange{sent: true, status: 200, body: []byte("true")}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := refused(&test.x); got != test.refused {
				t.Errorf("refused: %t", got)
			}
		})
	}
}

func TestEveryOutcomeHasItsReason(t *testing.T) {
	for _, o := range outcomes {
		if o.text == "" || o.why == "" {
			t.Errorf("%+v lacks a text or a reason", o)
		}
	}
}

func TestWhatAnAcquireThatFailedProves(t *testing.T) {
	put := &url.URL{Path: "/v1/kv/lockcheck/k", RawQuery: "acquire=s"}
	failed := errors.New("failed to acquire lock")
	for name, test := range map[string]struct {
		answer  exchange
		err     error
		givenUp bool
		code    string // "": unknown
	}{
		"refused":                        {exchange{status: 500, body: []byte("No cluster leader")}, failed, false, history.CodeRefused},
		"not answered":                   {exchange{sent: true, err: errors.New("EOF")}, failed, false, ""},
		"not answered, and given up":     {exchange{sent: true, err: errors.New("EOF")}, failed, true, ""},
		"held, and only tried":           {exchange{status: 200, body: []byte("false")}, nil, false, history.CodeBusy},
		"held, and given up":             {exchange{status: 200, body: []byte("false")}, nil, true, history.CodeCancelled},
		"not sent, and given up as well": {exchange{err: errors.New("connection refused")}, failed, true, history.CodeCancelled},
	} {
		t.Run(name, func(t *testing.T) {
			a := &attempt{watch: clientkit.NewWatched(), acquire: t.Context(), session: "s"}
			test.answer.Request = &http.Request{Method: http.MethodPut, URL: put}
			a.look(&test.answer)
			err := a.judgeAcquire(test.err, test.givenUp)
			clientkit.WantJudged(t, err, test.code)
			if under := client.SessionOf(err); (test.code == "") != (under == "s") {
				t.Errorf("under %q", under)
			}
		})
	}
}

// A server that may be behind says that the key has no holder: that ends no grant. The same of the leader does.
func TestAnOldAnswerEndsNoGrant(t *testing.T) {
	for query, ended := range map[string]bool{"?stale=": false, "?consistent=": true, "": true} {
		watched := clientkit.NewWatched()
		a := &attempt{watch: watched, acquire: t.Context(), session: "s", won: true}
		key, err := url.Parse("http://10.0.0.1:8500/v1/kv/k1" + query)
		if err != nil {
			t.Fatal(err)
		}
		a.look(&exchange{Request: &http.Request{Method: http.MethodGet, URL: key}, status: http.StatusNotFound})
		if got := watched.SaidEnded("s"); got != ended {
			t.Errorf("%q: the grant is said to have ended: %v, want %v", query, got, ended)
		}
	}
}

func TestAProgramThatIsNotConsulIsNamed(t *testing.T) {
	testkit.RefusesAnotherProgram(t, Backend{}.Software(), "Nomad v1.10.12", "is not Consul")
}
