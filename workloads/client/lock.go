package client

import (
	"context"
	"time"
)

// Factory makes the lock implementation of a built-in client. Serve calls it once, with what init said. Ready names the
// client (Client) and says whether the lock's tokens grow (Tokens), "ordered" or "none".
type Factory func(ctx context.Context, init Init, watch Watch) (Lock, Ready, error)

// Lock is one implementation of a lock: all that a built-in client has to write. Serve adds the protocol, the belief
// flags, the guards and the protected resource.
type Lock interface {
	// Acquire waits until key is granted, or ctx is done. With try it does not wait: an error with CodeBusy.
	// Errors are Errors of this package where the outcome is certain; any other error means that nobody knows.
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
	// Release gives the lock back. owned is nil when the answer did not say whose record was removed.
	Release(ctx context.Context) (owned *bool, err error)
}

// Renewer is a Grant that its user has to extend by hand.
type Renewer interface {
	Renew(ctx context.Context) (owned *bool, err error)
}

// Watch takes what an implementation observes while it happens (rules R3, R5, R6).
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

type queuedKey struct{}

// Queued says that the acquire whose context ctx is has its request in the queue of a lock that another holds. It may be
// called more than once, and with any context.
func Queued(ctx context.Context) {
	if say, ok := ctx.Value(queuedKey{}).(func()); ok {
		say()
	}
}
