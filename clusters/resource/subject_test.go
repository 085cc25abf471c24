//go:build unix && e2e

package resource_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"lockcheck/checker/history"
	"lockcheck/clusters/resource"
)

// subject is a resource that is tested for conformance, and what it was found to do wrong.
type subject struct {
	t       *testing.T
	base    string
	asked   *resource.Tested
	prefix  string // of all keys
	op      atomic.Int64
	command []string // nil for one that others run
	env     []string
	process *exec.Cmd
	hello   resource.Hello
	wrong   []string
}

// newSubject starts a program, or takes one that runs at a URL.
func newSubject(t *testing.T, what []string) *subject {
	s := &subject{t: t, prefix: fmt.Sprintf("conformance-%d-", time.Now().UnixNano())}
	if len(what) == 1 && history.IsResourceURL(what[0]) {
		s.base = what[0]
	} else {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		listen := l.Addr().String()
		l.Close()
		s.base, s.command = "http://"+listen, what
		s.env = append(os.Environ(), resource.EnvListen+"="+listen, resource.EnvData+"="+t.TempDir(), resource.EnvRun+"="+s.prefix)
	}
	s.asked = resource.NewTested(s.base, (&net.Dialer{}).DialContext)
	s.start()
	t.Cleanup(s.kill)
	return s
}

func (s *subject) start() {
	s.t.Helper()
	ended := make(chan struct{})
	var said bytes.Buffer
	if s.command != nil {
		s.process = exec.Command(s.command[0], s.command[1:]...)
		s.process.Env, s.process.Stdout, s.process.Stderr = s.env, &said, &said
		s.process.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		if err := s.process.Start(); err != nil {
			s.t.Fatal(err)
		}
		process := s.process
		go func() {
			_ = process.Wait()
			close(ended)
		}()
	}
	ctx, cancel := context.WithTimeout(s.t.Context(), 20*time.Second)
	defer cancel()
	var err error
	if s.hello, err = s.asked.AwaitHello(ctx, ended); err != nil {
		s.t.Fatalf("%v\n%s", err, said.String())
	}
}

func (s *subject) kill() {
	if s.process != nil {
		_ = syscall.Kill(-s.process.Process.Pid, syscall.SIGKILL)
	}
}

// restart kills the program and starts it again.
func (s *subject) restart() {
	s.kill()
	for deadline := time.Now().Add(5 * time.Second); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if connection, err := net.Dial("tcp", strings.TrimPrefix(s.base, "http://")); err != nil {
			break
		} else {
			connection.Close()
		}
	}
	s.start()
}

func (s *subject) complain(format string, args ...any) {
	s.wrong = append(s.wrong, fmt.Sprintf(format, args...))
}

func (s *subject) next() string { return strconv.FormatInt(s.op.Add(1), 10) }

// kept keeps a connection for each of the crowd.
var kept = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: crowdSize}}

// said is an answer as it came.
type said struct {
	status int
	resource.Answer
	raw string
}

func (s *subject) post(path, body string) said {
	s.t.Helper()
	reply, err := kept.Post(s.base+path, "application/json", strings.NewReader(body))
	if err != nil {
		s.t.Fatalf("POST %s %s: %v", path, body, err)
	}
	defer reply.Body.Close()
	raw, err := io.ReadAll(reply.Body)
	if err != nil {
		s.t.Fatalf("POST %s %s: %v", path, body, err)
	}
	a := said{status: reply.StatusCode, raw: fmt.Sprintf("%s %s", reply.Status, strings.TrimSpace(string(raw)))}
	_ = json.Unmarshal(raw, &a.Answer)
	return a
}

// want is what has to come: the status, and where it is 200 the value.
type want struct {
	status int
	value  string
}

var (
	rejected = want{status: http.StatusConflict}
	refused  = want{status: http.StatusBadRequest}
)

func applied(value string) want { return want{http.StatusOK, value} }

// ask sends a request, expects an answer, and says what came instead. It returns the request, to be sent again.
func (s *subject) ask(kind history.Kind, ask resource.Ask, expect want, why string) resource.Ask {
	s.t.Helper()
	if ask.Request == "" {
		ask.Request = s.next()
	}
	if !strings.HasPrefix(ask.Key, s.prefix) {
		ask.Key = s.prefix + ask.Key
	}
	if ask.Hold == "" {
		ask.Hold = "h" + ask.Token
	}
	body, err := json.Marshal(ask)
	if err != nil {
		s.t.Fatal(err)
	}
	got := s.post("/"+string(kind), string(body))
	right := got.status == expect.status
	words := fmt.Sprint(expect.status)
	switch expect.status {
	case http.StatusOK:
		right = right && got.Outcome == history.Applied && got.Value == expect.value
		words = fmt.Sprintf(`200 {"outcome":"applied","value":%q}`, expect.value)
	case http.StatusConflict:
		right = right && got.Outcome == history.Rejected
		words = `409 {"outcome":"rejected"}`
	}
	if !right {
		s.complain("%s\n  POST /%s %s\n  want %s\n  got  %s", why, kind, body, words, got.raw)
	}
	return ask
}

func (s *subject) log() (lines []history.Request) {
	s.t.Helper()
	err := s.asked.Log(s.t.Context(), s.prefix, func(q history.Request) error {
		lines = append(lines, q)
		return nil
	})
	if err != nil {
		s.complain("%v", err)
	}
	return lines
}
