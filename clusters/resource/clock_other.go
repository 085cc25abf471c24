//go:build !linux

package resource

import "time"

var started = time.Now()

// Monotonic is a monotonic clock of this process. Servers and clients run on Linux, so none of them could read the same one.
func Monotonic() (ns int64, err error) { return int64(time.Since(started)), nil }
