package resource

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

// What stands in a URL stands in the plan and the report: one with a secret is refused, and not repeated.
func TestAResourcesURLHoldsNoSecret(t *testing.T) {
	for _, name := range []string{"http://me:s3cret@10.0.0.9:8080", "http://10.0.0.9:8080/?tok=s3cret", "http://10.0.0.9:8080/#s3cret", "http://me:s3cret@10.0.0.9:80 80", "http:s3cret"} {
		if _, err := PlaceOf(name); err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, want := range map[string]string{
		"http://storage.example:8080/base": "storage.example:8080", "http://storage.example": "storage.example:http", "https://10.0.0.9/": "10.0.0.9:https",
	} {
		if got, err := PlaceOf(name); err != nil || got != want {
			t.Errorf("%s is at %s, %v; want %s", name, got, err, want)
		}
	}
}

// A request is sent once, to the URL's host and path, wherever that is reached; one without an answer is of unknown outcome.
func TestARequestIsForwardedOnce(t *testing.T) {
	var asked atomic.Int32
	theirs := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if asked.Add(1); r.URL.Path == "/base/lost" {
			panic(http.ErrAbortHandler)
		}
		_, _ = w.Write([]byte(r.Host + " " + r.URL.Path + " " + string(body)))
	}))
	defer theirs.Close()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = Forward(t.Context(), l, "http://storage.example/base/", theirs.Listener.Addr().String()) }()
	post := func(path string) (int, string) {
		reply, err := http.Post("http://"+l.Addr().String()+path, "application/json", bytes.NewReader([]byte("{}")))
		if err != nil {
			t.Fatal(err)
		}
		defer reply.Body.Close()
		text, _ := io.ReadAll(reply.Body)
		return reply.StatusCode, string(text)
	}
	if code, text := post("/write"); code != 200 || text != "storage.example /base/write {}" || asked.Load() != 1 {
		t.Errorf("%d %q after %d requests", code, text, asked.Load())
	}
	if code, _ := post("/lost"); code != 503 || asked.Load() != 2 {
		t.Errorf("without an answer: %d after %d requests, want 503 after 2", code, asked.Load())
	}
}
