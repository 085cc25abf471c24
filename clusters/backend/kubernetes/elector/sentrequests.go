package main

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
)

// sending is what became of one call of client-go: it sends a request again on its own where a server asks for that
// (Retry-After), and says nothing of it.
type sending struct {
	mu         sync.Mutex
	unanswered bool // a request may have taken effect without an answer that says so
}

type sendingKey struct{}

func withSending(ctx context.Context) (context.Context, *sending) {
	s := &sending{}
	return context.WithValue(ctx, sendingKey{}, s), s
}

// lost reports whether a request may have taken effect without an answer that says so.
func (s *sending) lost() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.unanswered
}

func (s *sending) note(unanswered bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unanswered = s.unanswered || unanswered
}

// sendings looks at every request that is sent, and at the status of its answer.
type sendings struct{ next http.RoundTripper }

func (s sendings) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := s.next.RoundTrip(req)
	if of, ok := req.Context().Value(sendingKey{}).(*sending); ok {
		of.note(err != nil && !notSent(err) || err == nil && unsure(resp.StatusCode))
	}
	return resp, err
}

// notSent reports whether there was no connection to send a request on.
func notSent(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}

// unsure reports whether a request may have taken effect after all, if its caller is told of an error: an API server that waited for
// etcd in vain, or was told that the leader changed, answers 500, 503 or 504, and the write may be made yet; and of an answer that says
// that it was made the rest may not arrive.
func unsure(status int) bool {
	return status >= http.StatusInternalServerError || status < http.StatusMultipleChoices
}

// WrappedRoundTripper lets client-go find the transport below.
func (s sendings) WrappedRoundTripper() http.RoundTripper { return s.next }
