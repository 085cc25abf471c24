//go:build unix

package harness

import "golang.org/x/sys/unix"

// kernel is the release of the kernel at work, "" if it does not say.
func kernel() string {
	var name unix.Utsname
	if unix.Uname(&name) != nil {
		return ""
	}
	return unix.ByteSliceToString(name.Release[:])
}
