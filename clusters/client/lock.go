package client

import (
	"context"
	"time"

	"lockcheck/checker/history"
)

// Factory makes the lock of a client in Go, built-in or your own. Serve calls it once, with what init said. Ready names the
// client (Client), and says whether the lock's tokens grow (Tokens: "ordered" or "none") and whether a release can remove
// another's record (Release: "checked" or "unchecked").
type Factory func(ctx context.Context, init Init, watch Watch) (Lock, Ready, error)

// Lock is one implementation of a lock: all that a client in Go has to write. Serve adds the protocol, the belief
// flags, the guards and the protected resource.
type Lock interface {
	// Acquire waits until key is granted, or ctx is done. With try it does not wait: an error with CodeBusy.
	// Errors are Errors of this package where the outcome is certain; any other error means that the outcome is not known. It says how it
	// gets on by Queued and Asked, and under which session an unknown outcome can only have been by Under. One that makes its record and
	// lets it expire in two steps says Expiring in between.
	Acquire(ctx context.Context, key string, try bool) (Grant, error)
	// Close ends the session in good order.
	Close(ctx context.Context) error
}

// Grant is a lock that was granted.
type Grant interface {
	Session() string // names the session or lease whose end ends the grant; "" if the grant stands alone
	Token() string   // decimal; "" if the lock gives none
	Seen() int64     // the last ping read before the winning attempt was sent
	// Valid is the time up to which the library declares the grant valid, by the client's own clock; zero if it
	// declares none.
	Valid() time.Time
	// Release gives the lock back. owned is nil when the answer did not say whose record was removed; that one was is then
	// said by Removed. One that looks first and
	// deletes in a step of its own says Removing in between.
	Release(ctx context.Context) (owned *bool, err error)
}

// Renewer is a Grant that its user has to extend by hand.
type Renewer interface {
	Renew(ctx context.Context) (owned *bool, err error)
}

// Asker is a Grant that can ask the service whether its own record is still there. A client whose grants can names the guards in
// Ready.Commands: "ask" for history.AskLatest, "ask-stale" for history.AskAnyCopy.
type Asker interface {
	// Ask reports whether the service, or for history.AskAnyCopy one server's copy, has this grant's own record. With an error that is
	// not known. It waits for the answer as the library does.
	Ask(ctx context.Context, question history.Question) (held bool, err error)
}

// Watch takes what an implementation observes while it happens: requests that extended a lease, answers that prove that it
// is over, and the library's signal that the lock is lost. They decide whether a loss was early, and how long a hold counts
// (rules R3, R5 and R6 in checker/RULES.md).
type Watch interface {
	// Seen is the number of the last ping read. Take it just before a request is sent.
	Seen() int64
	// Lease says that the server acknowledged a request, sent after ping seen, that set or extended the lease of a
	// session or of a single grant.
	Lease(session string, seen int64, ttl time.Duration)
	// Ended says that the server answered that the session is gone.
	Ended(session string, reason error)
	// Lost says that the library told its user that the session, and with it all its grants, is gone.
	Lost(session string, reason error)
}
