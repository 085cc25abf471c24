//go:build e2e

package redlock

import (
	"testing"

	"lockcheck/clusters/testkit/backends"
)

func TestMain(m *testing.M) { backends.Main(m, Backend{}) }
