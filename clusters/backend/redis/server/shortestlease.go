package server

import (
	"fmt"
	"time"

	"lockcheck/clusters"
)

// minTTL is the shortest lease that is let through. Redis itself would honour 1 ms; below this a client that renews at
// a third of the lease has no time for a request and its repetition.
const minTTL = 200 * time.Millisecond

// HonourTTL refuses a lease that Redis servers would not grant to the letter, with the nearest that they do: the error wraps
// ErrUsage.
func HonourTTL(backend string, ttl time.Duration) (time.Duration, error) {
	if granted := max(ttl.Round(time.Millisecond), minTTL); granted != ttl {
		return 0, fmt.Errorf("%w: %s cannot honour a TTL of %v: Redis counts whole milliseconds, and below %v there is no time "+
			"to renew; the nearest it can is %v", clusters.ErrUsage, backend, ttl, minTTL, granted)
	}
	return ttl, nil
}
