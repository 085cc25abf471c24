//go:build e2e

package redis

import (
	"testing"

	"lockcheck/clusters/internal/backendtest"
)

func TestMain(m *testing.M) { backendtest.Main(m, Backend{}) }
