//go:build linux

package docker

import (
	"errors"
	"strings"
	"testing"

	"lockcheck/clusters"
)

func TestALockClientThatNeedsLibrariesIsRefused(t *testing.T) {
	if libraries, err := librariesOf("/bin/sh"); err != nil || len(libraries) == 0 {
		t.Skipf("the shell of this machine is not dynamic (%v)", err)
	}
	if _, err := clientContent(selfPath, "/bin/sh"); !errors.Is(err, clusters.ErrUnavailable) || !strings.Contains(err.Error(), "CGO_ENABLED=0") {
		t.Errorf("got %v", err)
	}
}
