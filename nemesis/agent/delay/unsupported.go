//go:build !linux

package delay

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"lockcheck/nemesis/agent/firewall"
)

func refused() error {
	return fmt.Errorf("holding packets back needs Linux's nfnetlink_queue or netem, and this is %s", runtime.GOOS)
}

// Line is one delay that stands: here there is none.
type Line interface {
	Stop(ctx context.Context) (Report, error)
	How() string
}

// Start is refused.
func Start(string, []firewall.Link, Amount) (Line, error) { return nil, refused() }

// Try is refused.
func Try(time.Duration) (string, error) { return "", refused() }

// Soon does nothing.
func Soon() {}

// Monotonic is 0.
func Monotonic() int64 { return 0 }
