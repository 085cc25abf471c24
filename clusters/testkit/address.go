package testkit

import (
	"net"
	"testing"

	"lockcheck/clusters/testkit/needs"
)

// OwnAddress is an IPv4 address of this machine that is none of loopback. Without one the test is skipped, or fails with CI=true.
func OwnAddress(t *testing.T) string {
	t.Helper()
	all, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range all {
		if at, ok := a.(*net.IPNet); ok && at.IP.To4() != nil && at.IP.IsGlobalUnicast() {
			return at.IP.String()
		}
	}
	needs.Skip(t, "this machine has no address but those of loopback")
	return ""
}
