//go:build e2e

package postgres

import (
	"testing"

	"lockcheck/clusters/testkit/backends"
)

func TestResourceTakesIdempotencyKeys(t *testing.T) {
	backends.ResourceTakesIdempotencyKeys(t, Backend{})
}
