package resource

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"lockcheck/checker/history"
)

// testedBy is a resource under test that answers GET with a handler.
func testedBy(t *testing.T, answer http.HandlerFunc) *Tested {
	server := httptest.NewServer(answer)
	t.Cleanup(server.Close)
	return NewTested(server.URL, (&net.Dialer{}).DialContext)
}

const aLine = `{"request":"1","key":"k","kind":"read","hold":"h1","outcome":"applied"}` + "\n"

// What a log that does not end well means: a mistake of the resource's, or a connection that ended.
func TestLogsThatDoNotEndWell(t *testing.T) {
	for name, test := range map[string]struct {
		answer   http.HandlerFunc
		spoken   bool // it is no mistake of the resource's
		says     string
		requests int
	}{
		"no newline at its end": {func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, aLine+strings.TrimSpace(aLine)) }, true, "", 2},
		"half a line, then the connection breaks": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", strconv.Itoa(10*len(aLine)))
			fmt.Fprint(w, aLine+aLine[:20])
		}, true, "after 1 line: unexpected EOF", 1},
		"half a line, and no length announced": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Connection", "close")
			w.Header().Set("Transfer-Encoding", "identity")
			fmt.Fprint(w, aLine+aLine[:20])
		}, true, "it ends in the middle of line 2", 1},
		"half a line in the middle": {func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, aLine+aLine[:20]+"\n"+aLine) }, false, "line 2 of its log (GET /log)", 1},
		"no end at all": {func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				fmt.Fprint(w, aLine)
			}
		}, false, "has more than 100000 bytes", 0},
		"no end of a line": {func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				fmt.Fprint(w, strings.Repeat("x", 1<<16))
			}
		}, false, "line 1 of its log (GET /log) has more than", 0},
		"no end of empty lines": {func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				fmt.Fprint(w, strings.Repeat("\n", 1<<16))
			}
		}, false, "has more than 100000 bytes", 0},
	} {
		t.Run(name, func(t *testing.T) {
			tested, requests := testedBy(t, test.answer), 0
			tested.maxLog = 100_000
			if strings.Contains(test.says, "line 1") {
				tested.maxLog = 4 * maxLine
			}
			err := tested.Log(t.Context(), "", func(q history.Request) error {
				requests++
				return nil
			})
			if (err == nil) != (test.says == "") || err != nil && !strings.Contains(err.Error(), test.says) || errors.Is(err, ErrNotSpoken) == test.spoken {
				t.Errorf("%v (a mistake of the storage's: %v)", err, errors.Is(err, ErrNotSpoken))
			}
			if requests < test.requests {
				t.Errorf("%d requests were passed on, want %d", requests, test.requests)
			}
		})
	}
}

// Nothing that a resource says of itself reaches a terminal as a command to it.
func TestNamesThatATerminalWouldObey(t *testing.T) {
	for _, name := range []string{`a\nb`, `\u001b[2J`, `a\tb`, `\u202e`} {
		tested := testedBy(t, func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprintf(w, `{"name":"%s","compares":"tokens"}`, name)
		})
		if hello, err := tested.Hello(t.Context()); !errors.Is(err, ErrNotSpoken) || strings.ContainsAny(err.Error(), "\n\t\x1b\u202e") {
			t.Errorf("%s: %q, %v", name, hello.Name, err)
		}
	}
	tested := testedBy(t, func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"name":"Speicher für Öl 1.0","compares":"bases"}`)
	})
	if hello, err := tested.Hello(t.Context()); err != nil || hello.Name != "Speicher für Öl 1.0" {
		t.Errorf("%+v, %v", hello, err)
	}
}

// That time was up while it was asked once more says nothing about it: what came of the question before does.
func TestWhyItDidNotAnswerIsSaid(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	questions := 0
	_, err := NewTested("http://storage:1", func(ctx context.Context, _, _ string) (net.Conn, error) {
		if questions++; questions == 1 {
			return nil, syscall.ECONNREFUSED
		}
		cancel()
		<-ctx.Done()
		return nil, ctx.Err()
	}).AwaitHello(ctx, nil)
	if !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("after %d questions: %v, want that it was refused", questions, err)
	}
}
