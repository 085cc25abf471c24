//go:build e2e

package redlock

import (
	"testing"

	"lockcheck/clusters/internal/backendtest"
)

func TestMain(m *testing.M) { backendtest.Main(m, Backend{}) }
