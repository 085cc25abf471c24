package s3

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"lockcheck/checker/history"
	"lockcheck/clusters/client"
	"lockcheck/clusters/testkit"
	"lockcheck/clusters/testkit/clientkit"
)

// These are examples of Amazon's documentation of signatures.
func TestSignaturesAreThoseOfTheDocumentation(t *testing.T) {
	s := &store{user: "AKIAIOSFODNN7EXAMPLE", password: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", region: "us-east-1"}
	for query, want := range map[string]string{
		"lifecycle=":          "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543",
		"max-keys=2&prefix=J": "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7",
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://examplebucket.s3.amazonaws.com/?"+query, nil)
		if err != nil {
			t.Fatal(err)
		}
		s.sign(req, nil, time.Date(2013, 5, 24, 0, 0, 0, 0, time.UTC))
		if got := req.Header.Get("Authorization"); !strings.HasSuffix(got, "Signature="+want) {
			t.Errorf("%s: %s", query, got)
		}
	}
	if got := escaped("/b/a key/ü+~"); got != "/b/a%20key/%C3%BC%2B~" {
		t.Error(got)
	}
}

// answering is a store that answers each request so.
func answering(t *testing.T, answer http.HandlerFunc) *store {
	t.Helper()
	server := httptest.NewServer(answer)
	t.Cleanup(server.Close)
	s, err := newStore(server.Listener.Addr().String(), client.Access{}, "us-east-1", "b", nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestWhichErrorsAreDefinite(t *testing.T) {
	for name, test := range map[string]struct {
		status  int
		says    string
		refused bool
	}{
		"another object":   {412, "<Error><Code>PreconditionFailed</Code></Error>", true},
		"no right":         {403, "<Error><Code>AccessDenied</Code></Error>", true},
		"an error":         {500, "<Error><Code>InternalError</Code></Error>", false},
		"too many":         {503, "<Error><Code>SlowDown</Code></Error>", false},
		"a code unheard":   {400, "<Error><Code>Odd</Code></Error>", false},
		"not in its words": {412, "a proxy's", false},
	} {
		t.Run(name, func(t *testing.T) {
			s := answering(t, func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(test.status)
				_, _ = io.WriteString(w, test.says)
			})
			_, err := s.do(t.Context(), http.MethodPut, "k", "", nil, ifAbsent)
			if err == nil || client.Certain(judge(err)) != test.refused {
				t.Errorf("got %v", err)
			}
		})
	}
	hanging := answering(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	bounded, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err := hanging.do(bounded, http.MethodPut, "k", "", nil, nil)
	clientkit.WantUnknown(t, judge(err))
	for _, o := range outcomes {
		if o.why == "" {
			t.Errorf("%v has no reason", o.code)
		}
	}
}

// A store that knows no conditions would give the lock to everybody.
func TestAStoreThatHeedsNoConditionsIsNamed(t *testing.T) {
	for heeds, want := range map[string]string{"": "If-None-Match", "If-None-Match": "If-Match"} {
		s := answering(t, func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get(heeds) != "" {
				w.WriteHeader(http.StatusPreconditionFailed)
				fmt.Fprint(w, "<Error><Code>PreconditionFailed</Code></Error>")
			}
		})
		if err := s.tryConditions(t.Context(), "k", "v"); !errors.Is(err, errHeedless) || !strings.HasPrefix(err.Error(), want+":") {
			t.Errorf("heeding %q: %v", heeds, err)
		}
	}
}

func TestWithoutAListenerNothingWasSent(t *testing.T) {
	const closed = "127.0.0.1:1" // below the ports that the kernel gives away
	lock, _, _ := clientkit.Client(t, lease.factory, client.Init{Endpoints: []string{closed}, TTLMS: 1000})
	_, err := lock.Acquire(t.Context(), "k", true)
	clientkit.WantCode(t, err, history.CodeRefused)
	ctx, cancel := context.WithTimeout(t.Context(), 5*longestPoll)
	defer cancel()
	_, err = lock.Acquire(ctx, "k", false)
	clientkit.WantCode(t, err, history.CodeCancelled)
}

func TestAnAcquireWithoutAnAnswerIsUnknown(t *testing.T) {
	written := make(chan record, 1)
	s := answering(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, "<Error><Code>NoSuchKey</Code></Error>")
			return
		}
		var got record
		if err := json.NewDecoder(r.Body).Decode(&got); err != nil {
			t.Error(err)
		}
		written <- got
		<-r.Context().Done()
	})
	lock, _, _ := clientkit.Client(t, lease.factory, client.Init{Endpoints: []string{strings.TrimPrefix(s.base, "http://")}, TTLMS: 600, Options: map[string]string{optionBucket: "b"}})
	_, err := lock.Acquire(t.Context(), "k", false)
	clientkit.WantUnknown(t, err)
	if under, got := client.SessionOf(err), <-written; under != got.Owner {
		t.Errorf("under %q, and the owner is %q", under, got.Owner)
	}
}

func TestAnETagIsReadAsANumber(t *testing.T) {
	for etag, want := range map[string]string{`"ff"`: "255", `"not hex-2"`: etagAsNumber(record{}, `"not hex-2"`)} {
		if got := etagAsNumber(record{}, etag); got != want || strings.Trim(got, "0123456789") != "" {
			t.Errorf("%s: %s", etag, got)
		}
	}
}

func TestAProgramThatIsNotVersitygwIsNamed(t *testing.T) {
	testkit.RefusesAnotherProgram(t, Backend{}.Software(), "minio 1", "is not versitygw")
}

func TestTheImageHasTheVersionThatIsBuilt(t *testing.T) {
	testkit.ImageIsOfModule(t, Backend{}.Software(), "github.com/versity/versitygw")
}
