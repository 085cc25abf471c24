package clusters

import "errors"

// What an error means for the exit code. Wrap them: the message says what was tried, on what, why it failed and what to
// do next.
var (
	// ErrUsage: the user asked for something that cannot be (a TTL that the servers cannot honour). Exit code 64.
	ErrUsage = errors.New("bad usage")
	// ErrUnavailable: a dependency is unavailable (a server binary, an engine, a kernel ability). Exit code 69.
	ErrUnavailable = errors.New("not available here")
	// ErrLeft: everything was ended, but not all of it could be removed. What a completed run shows is not in doubt for it.
	ErrLeft = errors.New("not all that the run made could be removed")

	// ErrMiscounted: a container engine refuses to remove a network for endpoints that it does not have. Docker 20.10 counts
	// them apart from the endpoints themselves, its count is sometimes too high where containers come and go at the same
	// time, and it counts anew only when it starts.
	ErrMiscounted = errors.New("the engine itself lists no container in it, so its count of endpoints is wrong: it counts anew when it is restarted")
)
