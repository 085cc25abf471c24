package client

import (
	"context"
	"sync"
)

// releasing is what an implementation says of one release while it makes it, beside what Release returns.
type releasing struct {
	server *server
	op     int64

	mu      sync.Mutex
	seen    int64 // the last ping read before the request that deletes was sent
	removed bool
}

type releasingKey struct{}

// releasingOf is nil where nothing is to be said: a client gives back what it holds when it is closed, too.
func releasingOf(ctx context.Context) *releasing {
	r, _ := ctx.Value(releasingKey{}).(*releasing)
	return r
}

// Removed says that the release whose context ctx is removed a record, and that the service's answer does not say whose
// record that was: it may have been another's (rule J5 in checker/RULES.md). Where the answer does say it, Release returns
// owned instead.
func Removed(ctx context.Context) {
	if r := releasingOf(ctx); r != nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.removed = true
	}
}

// Removing says that the release whose context ctx is has looked whose record there is, and is about to send the request
// that deletes it. It returns once the next ping was read: a fault that waits for this moment comes before that request, and
// the request is known to have been sent after that ping. An error means that the client is closed before that: nothing
// may be sent.
func Removing(ctx context.Context) error {
	r := releasingOf(ctx)
	if r == nil {
		return nil
	}
	if err := r.server.between(ctx, r.op, StageRemoving); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen = r.server.heard.seen()
	return nil
}

// said adds to the release's answer what was said until its end.
func (r *releasing) said(answer Report) Report {
	r.mu.Lock()
	defer r.mu.Unlock()
	answer.Seen, answer.Removed = r.seen, r.removed
	return answer
}
