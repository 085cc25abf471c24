package consul

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/consul/api"

	"lockcheck/clusters/client"
)

// attempt observes all requests of one lock of the library, and their answers, as its transport, because the library hides
// what the rules need: when a session's lease was acknowledged (R5), which request won, and whether an unlock freed this
// session's lock (R6).
type attempt struct {
	watch   client.Watch
	base    http.RoundTripper
	kv      *api.KV
	ttl     time.Duration
	acquire context.Context // of the acquire: what is counted is counted for it
	givenUp <-chan struct{}

	mu       sync.Mutex
	won      bool   // the server said that this session has the lock
	session  string // once it was made
	unclear  bool   // a request for the lock may have been sent and has no answer that says what it did
	over     bool   // a release was asked for
	seen     int64  // the last ping read before the request that won was sent
	released *bool  // what the server answered to the release
	watched  error  // what the library's look at its lock came to last
	silent   bool   // the session is renewed no more
}

var _ http.RoundTripper = (*attempt)(nil)

// exchange is one request and what came of it.
type exchange struct {
	*http.Request
	seen   int64 // the last ping read before it was sent
	sent   bool  // there was a connection for it
	status int   // of the answer; 0 if there is none
	body   []byte
	err    error
}

// errSilent is what a renewal comes to that is not sent.
var errSilent = errors.New("not sent: the library said that the lock is lost, and its user lets the session run out")

// RoundTrip sends a request, and looks at the answer before the library does.
func (a *attempt) RoundTrip(req *http.Request) (*http.Response, error) {
	x := &exchange{Request: req, seen: a.watch.Seen()}
	if x.renews() != "" && a.isSilent() {
		return nil, errSilent
	}
	a.count(x)
	resp, err := a.send(x)
	if err != nil {
		x.err = err
	}
	a.look(x)
	return resp, err
}

// send sends it and reads the whole answer. A request that waits for a lock, or prepares to, ends when the acquire is given
// up; one that may have taken the lock does not: its answer is worth having.
func (a *attempt) send(x *exchange) (*http.Response, error) {
	ctx, cancel := context.WithCancel(x.Context())
	defer cancel()
	if a.waits(x) {
		go func(answered <-chan struct{}) {
			select {
			case <-a.givenUp:
				cancel()
			case <-answered:
			}
		}(ctx.Done())
	}
	var sent atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { sent.Store(true) }})
	resp, err := a.base.RoundTrip(x.Request.WithContext(ctx))
	x.sent = sent.Load()
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if x.body, err = io.ReadAll(resp.Body); err != nil {
		return nil, err
	}
	x.status, resp.Body = resp.StatusCode, io.NopCloser(bytes.NewReader(x.body))
	return resp, nil
}

// waits reports whether a request is a part of the acquire's waiting.
func (a *attempt) waits(x *exchange) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return !a.won && (x.Method == http.MethodGet || x.makes())
}

// The kinds of requests that matter.
func (x *exchange) makes() bool      { return x.URL.Path == "/v1/session/create" }
func (x *exchange) renews() string   { return after(x.URL.Path, "/v1/session/renew/") }
func (x *exchange) destroys() string { return after(x.URL.Path, "/v1/session/destroy/") }
func (x *exchange) acquires() bool   { return x.URL.Query().Has("acquire") }
func (x *exchange) releases() bool   { return x.URL.Query().Has("release") }
func (x *exchange) ofKey() bool      { return strings.HasPrefix(x.URL.Path, "/v1/kv/") }

// mayBeOld reports whether any server may answer from what it has: that proves nothing of the grant. The library never asks so; a guard may.
func (x *exchange) mayBeOld() bool { return x.URL.Query().Has("stale") }

func after(path, prefix string) string {
	id, ok := strings.CutPrefix(path, prefix)
	if !ok {
		return ""
	}
	return id
}

// count counts the requests for the lock.
func (a *attempt) count(x *exchange) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.won && x.ofKey() {
		client.Asked(a.acquire)
	}
}

// look takes in what came of a request.
func (a *attempt) look(x *exchange) {
	switch {
	case x.makes():
		a.made(x)
	case x.renews() != "":
		a.renewed(x, x.renews())
	case x.destroys() != "":
		a.destroyed(x)
	case x.acquires():
		a.acquired(x)
	case x.releases():
		a.freed(x)
	case x.ofKey() && !x.mayBeOld():
		a.looked(x)
	}
}

// The servers' word that a session is not there any more.
var (
	errDestroyed = errors.New("the session was ended, as this client asked")
	errNoSession = errors.New("the server knows no such session")
)

func (a *attempt) made(x *exchange) {
	var made struct{ ID string }
	if x.status != http.StatusOK || json.Unmarshal(x.body, &made) != nil || made.ID == "" {
		return
	}
	a.mu.Lock()
	a.session = made.ID
	a.mu.Unlock()
	a.watch.Lease(made.ID, x.seen, a.ttl)
}

func (a *attempt) renewed(x *exchange, session string) {
	var entries []struct{ TTL string }
	switch {
	case x.status == http.StatusNotFound:
		a.watch.Ended(session, errNoSession)
	case x.status == http.StatusOK && json.Unmarshal(x.body, &entries) == nil && len(entries) > 0:
		a.watch.Lease(session, x.seen, duration(entries[0].TTL))
	}
}

// acquired takes the answer to a request for the lock: true or false, or an error that may prove that it did nothing.
func (a *attempt) acquired(x *exchange) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case x.status == http.StatusOK && isTrue(x.body):
		a.won, a.seen = true, x.seen
	case x.status == http.StatusOK:
		client.Queued(a.acquire)
	case !refused(x):
		a.unclear = true
	}
	if says(x, invalidSession) {
		a.watch.Ended(a.session, errNoSession)
	}
}

// destroyed takes the answer to the end of the session, which frees a lock that an acquire or a release of unknown outcome
// may have left behind.
func (a *attempt) destroyed(x *exchange) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if x.status == http.StatusOK && a.released == nil && (a.won || a.unclear) {
		a.watch.Ended(x.destroys(), errDestroyed)
	}
}

func (a *attempt) freed(x *exchange) {
	if x.status != http.StatusOK {
		return
	}
	own := isTrue(x.body)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.released = &own
}

func isTrue(body []byte) bool { return bytes.Contains(body, []byte("true")) }

// looked takes the answer to a look at the key: of the acquire, whether another has it; after it, whether this session has
// it still. The library asks for that of the leader, who asks the others whether it is one: if the key is not this
// session's, the grant is over.
func (a *attempt) looked(x *exchange) {
	var entries []struct{ Session string }
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case x.err != nil:
		a.watched = x.err
	case x.status != http.StatusOK && x.status != http.StatusNotFound:
		a.watched = fmt.Errorf("%d %s", x.status, bytes.TrimSpace(x.body))
	case x.status == http.StatusOK && json.Unmarshal(x.body, &entries) != nil:
		a.watched = fmt.Errorf("not understood: %.80q", x.body)
	case !a.won && len(entries) > 0 && entries[0].Session != "":
		client.Queued(a.acquire)
	case a.won && !a.over && (len(entries) == 0 || entries[0].Session != a.session):
		a.watched = errNotOurs
		a.watch.Ended(a.session, errNotOurs)
	}
}

// release says that the lock is to be released.
func (a *attempt) release() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.over = true
}

func (a *attempt) renewNoMore() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.silent = true
}

func (a *attempt) isSilent() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.silent
}

func (a *attempt) sessionID() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.session
}

func (a *attempt) wonSeen() int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.seen
}

func (a *attempt) releasedOwn() *bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.released
}

var errNothingWrong = errors.New("no request of the library's failed")

func (a *attempt) whyLost() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.watched == nil {
		return errNothingWrong
	}
	return a.watched
}
