//go:build e2e

package redis

import (
	"testing"

	"lockcheck/clusters/internal/backendtest"
)

func TestResourceTakesIdempotencyKeys(t *testing.T) {
	backendtest.ResourceTakesIdempotencyKeys(t, Backend{})
}
